#pragma once
#ifndef TOLLGATE_WEB_DETAIL_GERMAN_CONSENT_HPP
#define TOLLGATE_WEB_DETAIL_GERMAN_CONSENT_HPP

#include <tollgate/web/consent_texts.hpp>

namespace tollgate::inline v0::detail {

[[nodiscard]] inline consent_texts german_consent_texts() {
    return {
        .title = "{} autorisieren?",
        .asks = "{} möchte auf Ihr Konto bei {} zugreifen.",
        .scopes = "Diese Anwendung erhält folgende Berechtigungen:",
        .website = "Website laut Anwendung: {}",
        .unproved = "Jedes Programm kann sich als diese Anwendung ausgeben. Fahren Sie nur fort, wenn Sie sie gerade "
                    "selbst gestartet haben.",
        .registered_itself = "Diese Anwendung hat sich selbst registriert. Niemand hat ihre Angaben geprüft.",
        .not_registered = "Diese Anwendung ist hier nicht registriert. Sie wird von {} beschrieben. Fahren Sie nur fort, wenn Sie "
                          "dieser Website vertrauen.",
        .resource = "Der Zugriff gilt nur für {}.",
        .signed_in_as = "Sie sind als {} angemeldet.",
        .other_user = "Nicht Sie?",
        .allow = "{} autorisieren",
        .deny = "Abbrechen",
        .leads_to = "In beiden Fällen kehren Sie zu {} zurück.",
        .revocable = "Sie können den Zugriff jederzeit in Ihren Kontoeinstellungen widerrufen.",
        .sign_in = "Melden Sie sich an, um fortzufahren",
        .missing_client = {"client_id fehlt oder ist ungültig",
                           "Der Link, der hierher geführt hat, nennt nicht genau eine Anwendung. Kehren Sie zur Anwendung zurück "
                           "und wenden Sie sich an deren Entwickler, falls das erneut geschieht."},
        .unknown_client = {"Unbekannte Anwendung",
                           "Der Link, der hierher geführt hat, gehört zu keiner registrierten Anwendung. Es wurde kein "
                           "Zugriff gewährt."},
        .unusable_document = {"Anwendung nicht erkennbar",
                              "Die Anwendung nennt ein Dokument, das sie beschreibt, und dieses Dokument ist nicht verwendbar. Es "
                              "wurde kein Zugriff gewährt. Falls Sie diese Anwendung entwickeln:"},
        .too_many_documents = {"Versuchen Sie es später erneut",
                               "In kurzer Zeit wurden zu viele Anwendungen nachgeschlagen. Warten Sie einen Moment und laden Sie "
                               "diese Seite neu."},
        .stopped_client = {"Anwendung gesperrt",
                           "Die Anwendung oder das Konto ihres Inhabers ist gesperrt. Es wurde kein Zugriff gewährt."},
        .no_redirect_url = {"Keine Weiterleitungs-URL registriert",
                            "Die Anwendung ist ein öffentlicher Client ohne Weiterleitungs-URL und kann daher nur den "
                            "Device-Flow verwenden. Es wurde kein Zugriff gewährt."},
        .unregistered_redirect = {"Weiterleitungs-URL nicht registriert",
                                  "Die redirect_uri dieser Anfrage ist für die Anwendung nicht registriert. Der Link "
                                  "ist möglicherweise fehlerhaft oder ein Täuschungsversuch. Es wurde kein Zugriff "
                                  "gewährt."},
        .received_redirect = "Die Anfrage enthält diese redirect_uri:",
        .compare_redirect = "Als Entwickler vergleichen Sie sie Zeichen für Zeichen mit den registrierten Weiterleitungs-URLs. Nur "
                            "der Port von http://127.0.0.1 und http://[::1] darf abweichen. Ist keine Weiterleitungs-URL registriert, "
                            "vergleichen Sie Schema, Host und Port mit denen der Website der Anwendung.",
        .missing_redirect = {"redirect_uri fehlt",
                             "Für die Anwendung ist nicht genau eine Weiterleitungs-URL registriert, daher muss jede "
                             "Anfrage eine redirect_uri enthalten. Es wurde kein Zugriff gewährt."},
        .answered = {"Diese Anfrage wurde bereits beantwortet",
                     "Die Anwendung hat Ihre Entscheidung bereits erhalten. Kehren Sie zu ihr zurück und beginnen Sie "
                     "dort bei Bedarf von vorn."}};
}

[[nodiscard]] inline device_texts german_device_texts() {
    return {
        .title = "Gerät verbinden",
        .about = "Geben Sie den Code ein, den Ihr Gerät anzeigt.",
        .code = "Code",
        .code_hint = "8 Buchstaben, zum Beispiel BCDF-GHJK.",
        .next = "Weiter",
        .malformed = "Ein Code besteht aus 8 Buchstaben ohne Vokale, zum Beispiel BCDF-GHJK.",
        .unknown = "Dieser Code ist falsch, abgelaufen oder wurde bereits verwendet. Den aktuellen Code finden Sie auf "
                   "Ihrem Gerät.",
        .too_many = "Zu viele falsche Codes. Versuchen Sie es in {} erneut.",
        .asks = "Ein Gerät mit {} möchte auf Ihr Konto bei {} zugreifen.",
        .warning = "Die Anfrage kam von der Adresse {} am {}. Fahren Sie nur fort, wenn Sie sie gerade selbst auf einem "
                   "Gerät gestartet haben, das Sie vor sich haben. Wenn Ihnen jemand den Code oder diesen Link "
                   "geschickt hat, brechen Sie ab: Die Person erhielte sonst Zugriff auf Ihr Konto.",
        .code_shown = "Ihr Gerät muss diesen Code anzeigen: {}",
        .approved = {"Das Gerät ist verbunden",
                     "Das Gerät hat Zugriff auf das Konto von {}. Sie können zum Gerät zurückkehren: Es fährt in wenigen Sekunden "
                     "fort."},
        .denied = {"Zugriff abgelehnt", "Das Gerät hat keinen Zugriff auf Ihr Konto erhalten."},
        .approved_before = {"Das Gerät ist verbunden",
                            "Sie haben dieses Gerät bereits autorisiert, daher hatte Ihre letzte Entscheidung keine Wirkung. Um "
                            "ihm den Zugriff zu entziehen, widerrufen Sie in Ihren Kontoeinstellungen die Autorisierung der "
                            "Anwendung."},
        .denied_before = {"Zugriff abgelehnt",
                          "Sie haben die Anfrage dieses Geräts bereits abgelehnt, daher hatte Ihre letzte Entscheidung keine "
                          "Wirkung. Um das Gerät zu verbinden, beginnen Sie dort von vorn."},
        .answered_by_other = {"Von einer anderen Person beantwortet",
                              "Eine andere Person hat die Anfrage dieses Geräts zuerst beantwortet, daher hatte Ihre Entscheidung "
                              "keine Wirkung. Das Gerät hat keinen Zugriff auf Ihr Konto erhalten."},
        .answered = {"Dieser Code wurde bereits verwendet",
                     "Kehren Sie zu Ihrem Gerät zurück und beginnen Sie dort bei Bedarf von vorn."}};
}

}  // namespace tollgate::detail

#endif  // TOLLGATE_WEB_DETAIL_GERMAN_CONSENT_HPP

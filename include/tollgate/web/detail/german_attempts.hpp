#pragma once
#ifndef TOLLGATE_WEB_DETAIL_GERMAN_ATTEMPTS_HPP
#define TOLLGATE_WEB_DETAIL_GERMAN_ATTEMPTS_HPP

#include <tollgate/web/webhook_texts.hpp>

namespace tollgate::inline v0::detail {

/// The German texts of `attempt_texts`.
inline constexpr attempt_texts german_attempts{
    .answered = "HTTP-Status {}",
    .redirected = "HTTP-Status {}: Weiterleitungen wird nicht gefolgt",
    .no_address = "Der Hostname konnte nicht aufgelöst werden",
    .refused_address = "Der Hostname führt zu einer Adresse, an die keine Webhooks gesendet werden dürfen",
    .no_connection = "Keine Verbindung",
    .no_tls = "TLS-Handshake fehlgeschlagen: Das Zertifikat ist möglicherweise ungültig oder abgelaufen",
    .timed_out = "Zeitüberschreitung, bevor die Antwort vollständig war",
    .broken_off = "Verbindung geschlossen, bevor die Antwort vollständig war",
    .bad_response = "Ungültige oder zu große HTTP-Antwort",
    .name_not_found = "Der Hostname existiert nicht oder hat keine Adresse",
    .no_name_server = "Die Nameserver des Hosts haben nicht rechtzeitig geantwortet",
    .connection_refused = "Verbindung abgelehnt: Auf dem Port nimmt kein Programm Verbindungen an, oder eine "
        "Firewall blockiert sie",
    .unreachable = "Keine Route zur Adresse des Hosts",
    .connect_timeout = "Zeitüberschreitung beim Verbinden: Der Host hat nicht geantwortet",
    .handshake_timeout = "Zeitüberschreitung beim TLS-Handshake",
    .response_timeout = "Zeitüberschreitung beim Warten auf die Antwort: Die Anfrage wurde gesendet",
    .certificate_expired = "TLS-Handshake fehlgeschlagen: Das Zertifikat ist abgelaufen",
    .certificate_not_yet_valid = "TLS-Handshake fehlgeschlagen: Das Zertifikat ist noch nicht gültig",
    .certificate_for_other_host =
        "TLS-Handshake fehlgeschlagen: Das Zertifikat gilt für einen anderen Hostnamen",
    .certificate_not_trusted = "TLS-Handshake fehlgeschlagen: Das Zertifikat ist selbstsigniert, von einer "
        "unbekannten Zertifizierungsstelle oder ohne Zwischenzertifikate gesendet",
    .certificate_invalid = "TLS-Handshake fehlgeschlagen: Das Zertifikat ist ungültig"};

}  // namespace tollgate::detail

#endif  // TOLLGATE_WEB_DETAIL_GERMAN_ATTEMPTS_HPP

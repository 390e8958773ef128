#include "transfer.hpp"

#include "data_directory.hpp"
#include "output.hpp"
#include "text_values.hpp"
#include "transfer_file.hpp"
#include "transfer_records.hpp"

#include <tollgate/base/secret_keys.hpp>
#include <tollgate/base/system_sources.hpp>
#include <tollgate/http/json_body.hpp>
#include <tollgate/model/account.hpp>
#include <tollgate/model/delivery.hpp>
#include <tollgate/model/hook.hpp>

#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace reference {

namespace {

using nlohmann::ordered_json;
using steady = progress::steady;

constexpr std::size_t hex_digits = 64;  // of a digest

/// The context in which the secret of this record is encrypted; none if service and account are not what they must be.
std::optional<std::string> secret_context(const ordered_json& record) {
    const auto service = tollgate::service_name::from(record.at("service").get_ref<const std::string&>());
    const auto account = tollgate::account_id::from(record.at("account").get<std::int64_t>());
    if (!service || !account) return std::nullopt;
    return tollgate::hook_secret_context({*service, *account});
}

usage_error missing_key() {
    return usage_error{"--secret-key-file is missing: export and import need it for the secrets of webhooks."};
}

std::vector<std::string_view> split_lines(std::string_view text) {
    std::vector<std::string_view> lines;
    while (!text.empty()) {
        const auto end = (std::min)(text.find('\n'), text.size());
        lines.push_back(text.substr(0, end));
        text.remove_prefix((std::min)(end + 1, text.size()));
    }
    return lines;
}

bool is_hexadecimal(std::string_view text) {
    return text.size() % 2 == 0 && text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

/// Writes the file.
class exporter {
public:
    exporter(const std::filesystem::path& to, const settings& settings)
        : file_{to}, keys_{read_secret_keys(settings.secret_key_file)} {
        add({{"type", "header"},
             {"format", transfer_format},
             {"version", transfer_version},
             {"created_at", tollgate::to_iso8601(tollgate::system_clock{}.now()).view()}});
    }

    std::int64_t write(record_reader& from) {
        ordered_json last_ids = ordered_json::object();
        for (const record_type& type : record_types()) {
            from.read_all(type, [&](const std::string& object) {
                const auto row = ordered_json::parse(object, nullptr, false);
                if (row.is_discarded())
                    throw run_error{"--store: a record of the type '" + std::string{type.name} + "' is not valid UTF-8."};
                add(convert(type, row));
                progress_.count(++records_, steady::now());
            });
            if (type.has_ids()) last_ids[std::string{type.name}] = from.last_id(type);
        }
        add({{"type", "end"}, {"records", records_}, {"last_ids", std::move(last_ids)}});
        file_.write(buffer_);
        file_.finish(existing_file::refused);
        return records_;
    }

private:
    void add(const ordered_json& line) {
        constexpr std::size_t buffered_bytes = 64 * 1024;
        const auto before = buffer_.size();
        buffer_ += line.dump();
        if (buffer_.size() - before > line_bytes_max)
            throw run_error{"--to: a record of the type '" + line.at("type").get<std::string>() + "' is too long."};
        buffer_ += '\n';
        if (buffer_.size() < buffered_bytes) return;
        file_.write(buffer_);
        buffer_.clear();
    }

    [[nodiscard]] ordered_json convert(const record_type& type, const ordered_json& row) const {
        ordered_json line{{"type", type.name}};
        for (const member& each : type.members) {
            const std::string name{each.name};
            const ordered_json& value = row.at(name);
            ordered_json& to = line[name];
            if (value.is_null()) continue;
            if (each.kind == member_kind::lines) to = split_lines(value.get_ref<const std::string&>());
            else if (each.kind == member_kind::secret) to = encrypt(type, row, value.get<std::string>());
            else to = value;
        }
        return line;
    }

    [[nodiscard]] std::string encrypt(const record_type& type, const ordered_json& row, const std::string& stored) const {
        if (keys_.prefix().empty()) throw missing_key();
        const auto context = secret_context(row);
        auto encrypted = keys_.decrypt(stored, context.value_or("")).and_then([&](const std::string& secret) {
            return keys_.encrypt(secret, context.value_or(""));
        });
        return expect(std::move(encrypted),
                      "--secret-key-file: cannot read the secret of " + std::string{type.name} + " " + row.at("id").dump());
    }

    private_file file_;
    const tollgate::secret_keys keys_;
    std::string buffer_;
    std::int64_t records_ = 0;
    progress progress_{"exported", steady::now()};
};

/// Reads the file, checks it, and writes its records in batches of one type.
class importer {
public:
    importer(record_writer& to, const std::filesystem::path& from, const settings& settings)
        : to_{to}, file_{from}, keys_{read_secret_keys(settings.secret_key_file)} {}

    std::int64_t run() {
        expect_empty();
        read_header();
        for (;;) {
            const ordered_json line = next_line();
            const auto type = line.find("type");
            if (type == line.end() || !type->is_string()) refuse("it has no 'type'.");
            if (*type == "end") return finish(line);
            const auto* const known = find_record_type(type->get_ref<const std::string&>());
            if (known == nullptr) refuse("its type is not one of a record.");
            add(*known, line);
            progress_.count(++records_, steady::now());
        }
    }

private:
    static constexpr std::size_t rows_max = 1000;
    static constexpr std::size_t rows_bytes_max = 1 << 20;

    [[noreturn]] void refuse(const std::string& sentence) const { file_.refuse(file_.number(), sentence); }
    [[noreturn]] void refuse(const member& at, const std::string& sentence) const {
        refuse("'" + std::string{at.name} + "' " + sentence);
    }

    void expect_empty() {
        for (const record_type& each : record_types())
            if (to_.has_rows(each))
                throw run_error{each.name == "user" ? "--store: the store has users; import needs an empty one."
                                                    : "--store: the store is not empty: it has records of the type '" +
                                                          std::string{each.name} + "'."};
    }

    [[nodiscard]] ordered_json next_line() {
        const auto line = file_.next();
        if (!line) refuse("the last line is missing: the file was cut off.");
        if (!tollgate::http::parse_json_object(*line)) refuse("it is not a JSON object.");
        return ordered_json::parse(*line);
    }

    void read_header() {
        const ordered_json header = next_line();
        if (header.value("type", ordered_json{}) != "header" || header.value("format", ordered_json{}) != transfer_format)
            refuse("it is not the first line of a file that 'export' wrote.");
        if (header.value("version", ordered_json{}) != transfer_version) refuse("its version is not that of this release.");
    }

    void add(const record_type& type, const ordered_json& line) {
        if (&type != batch_type_ || lines_.size() == rows_max || rows_.size() > rows_bytes_max) insert_batch();
        batch_type_ = &type;
        const auto row = convert(type, line).dump();
        rows_.append(rows_.empty() ? "[" : ",").append(row);
        lines_.push_back({file_.number(), row});
    }

    /// The row for the database.
    [[nodiscard]] ordered_json convert(const record_type& type, const ordered_json& line) {
        ordered_json row{{"line", file_.number()}};
        for (const member& each : type.members) {
            const auto found = line.find(std::string{each.name});
            if (found == line.end()) refuse(each, "is missing.");
            check(each, *found);
            ordered_json& to = row[std::string{each.name}];
            if (found->is_null() || each.kind != member_kind::lines) to = *found;
            else to = join(*found);
        }
        if (line.size() != type.members.size() + 1) refuse("it has a member that is not one of its type.");
        for (const member& each : type.members)
            if (each.kind == member_kind::secret) row[std::string{each.name}] = encrypt(each, line);
        if (type.has_ids()) check_order(type, line.at("id").get<std::int64_t>());
        if (type.has_hosts()) row["host"] = tollgate::delivery_host(line.at("target_url").get<std::string>());
        return row;
    }

    void check(const member& of, const ordered_json& value) const {
        using enum member_kind;
        const auto& rules = of.rules;
        if (value.is_null()) {
            if (!rules.may_be_null) refuse(of, "is null.");
            return;
        }
        switch (of.kind) {
            case id:
            case integer:
            case time: return check_number(of, value);
            case boolean:
                if (!value.is_boolean()) refuse(of, "is not true or false.");
                return;
            case lines:
                if (!value.is_array()) refuse(of, "is not an array.");
                for (const ordered_json& each : value) check_text(of, each);
                return;
            case digest:
            case bytes:
            case text:
            case secret: return check_text(of, value);
        }
    }

    void check_number(const member& of, const ordered_json& value) const {
        // A larger one than 63 bits is unsigned.
        const bool is_signed = value.is_number_integer() && (!value.is_number_unsigned() || value.get<std::uint64_t>() <= INT64_MAX);
        if (!is_signed) refuse(of, "is not a whole number of 63 bits.");
        const auto number = value.get<std::int64_t>();
        if (of.kind == member_kind::id && number < 1) refuse(of, "is not an id.");
        if (of.kind == member_kind::integer && number < 0) refuse(of, "is negative.");
    }

    void check_text(const member& of, const ordered_json& value) const {
        const auto& rules = of.rules;
        if (!value.is_string()) refuse(of, "is not a text.");
        const auto& text = value.get_ref<const std::string&>();
        if (text.find('\0') != std::string::npos) refuse(of, "contains NUL.");
        if ((of.kind == member_kind::bytes || of.kind == member_kind::digest) && !is_hexadecimal(text))
            refuse(of, "is not pairs of lower-case hexadecimal digits.");
        if (of.kind == member_kind::digest && text.size() != hex_digits) refuse(of, "is not a digest of 32 bytes.");
        const auto is_value = [&](const stored_value& each) { return each.name == text; };
        if ((rules.is_valid != nullptr && !rules.is_valid(text)) ||
            (!rules.values.empty() && std::none_of(rules.values.begin(), rules.values.end(), is_value)))
            refuse(of, "is not a valid value.");
    }

    static std::string join(const ordered_json& lines) {
        std::string text;
        for (const ordered_json& each : lines) text.append(text.empty() ? "" : "\n").append(each.get_ref<const std::string&>());
        return text;
    }

    [[nodiscard]] std::string encrypt(const member& of, const ordered_json& line) const {
        if (keys_.prefix().empty()) throw missing_key();
        const auto& given = line.at(std::string{of.name}).get_ref<const std::string&>();
        if (!given.starts_with("aes256gcm.")) refuse(of, "is not encrypted.");
        const auto context = secret_context(line);
        const auto secret = keys_.decrypt(given, context.value_or(""));
        if (!secret && secret.error().kind == tollgate::error_kind::unavailable)
            refuse(of, "is encrypted with a key that is not in --secret-key-file: " + secret.error().cause + ".");
        if (!secret) refuse(of, "is damaged, or that of another account.");
        return expect(keys_.encrypt(*secret, *context), "cannot encrypt a secret");
    }

    /// Ascending ids are different ids.
    void check_order(const record_type& type, std::int64_t id) {
        auto& last = last_ids_[&type];
        if (id <= last) refuse("its id is not above that of the record of this type before it.");
        last = id;
    }

    void insert_batch() {
        if (lines_.empty()) return;
        rows_ += "]";
        const auto& type = *batch_type_;
        if (const auto dangling = to_.find_dangling(type, rows_))
            file_.refuse(dangling->line, "'" + dangling->member + "' refers to no such record in the lines before.");
        if (const auto inserted = to_.insert(type, rows_); !inserted) find_refused_row(inserted.error());
        rows_.clear();
        lines_.clear();
    }

    /// One of the rows is refused by the database: finds out which.
    [[noreturn]] void find_refused_row(const tollgate::error& of_all) {
        for (const auto& [number, row] : lines_)
            if (const auto inserted = to_.insert(*batch_type_, "[" + row + "]"); !inserted)
                file_.refuse(number, "the store refuses the record: " + reason_of(inserted.error()));
        throw run_error{"--store: cannot write the records: " + of_all.log_text()};
    }
    /// Without the statement.
    static std::string reason_of(const tollgate::error& refused) {
        const auto& text = refused.log_text();
        return text.substr(0, text.find(": INSERT INTO"));
    }

    std::int64_t finish(const ordered_json& end) {
        insert_batch();
        if (end.value("records", ordered_json{}) != records_)
            refuse("it does not say " + std::to_string(records_) + " records: lines are missing or were added.");
        const auto ids = end.value("last_ids", ordered_json{});
        std::vector<last_id> last_ids;
        for (const record_type& type : record_types()) {
            if (!type.has_ids()) continue;
            const auto found = ids.is_object() ? ids.find(std::string{type.name}) : ids.end();
            if (found == ids.end() || !found->is_number_unsigned() || found->get<std::uint64_t>() > INT64_MAX)
                refuse("'last_ids' has no whole number for '" + std::string{type.name} + "'.");
            last_ids.push_back({&type, (std::max)(last_ids_[&type], found->get<std::int64_t>())});
        }
        if (end.size() != 3 || ids.size() != last_ids.size()) refuse("it has a member that is not one of the last line.");
        if (file_.next()) refuse("there is something behind the last line.");
        to_.commit(last_ids);
        return records_;
    }

    struct given_row {
        std::int64_t line;
        std::string row;
    };

    record_writer& to_;
    line_reader file_;
    const tollgate::secret_keys keys_;
    const record_type* batch_type_ = nullptr;
    std::string rows_;              // of the batch: a JSON array without its end
    std::vector<given_row> lines_;  // of the batch
    std::map<const record_type*, std::int64_t> last_ids_;
    std::int64_t records_ = 0;
    progress progress_{"imported", steady::now()};
};

}  // namespace

std::int64_t export_records(record_reader& from, const std::filesystem::path& to, const settings& settings) {
    return exporter{to, settings}.write(from);
}

std::int64_t import_records(record_writer& to, const std::filesystem::path& from, const settings& settings) {
    return importer{to, from, settings}.run();
}

}  // namespace reference

// A JSON file as a stream of nlohmann's SAX events, of any size, with the place of what is wrong.
#pragma once
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>

#include <nlohmann/json.hpp>

namespace falcon::data {

/// What a reader of one format overrides; the defaults take anything and do nothing.
class JsonEvents : public nlohmann::json_sax<nlohmann::json> {
 public:
  bool null() override { return true; }
  bool boolean(bool) override { return true; }
  bool number_integer(number_integer_t) override { return true; }
  bool number_unsigned(number_unsigned_t) override { return true; }
  bool number_float(number_float_t, const string_t&) override { return true; }
  bool string(string_t&) override { return true; }
  bool binary(binary_t&) override { return true; }
  bool start_object(std::size_t) override { return true; }
  bool key(string_t&) override { return true; }
  bool end_object() override { return true; }
  bool start_array(std::size_t) override { return true; }
  bool end_array() override { return true; }
  /// Remembers what was wrong for stream_json().
  bool parse_error(std::size_t position, const std::string& last_token,
                   const nlohmann::detail::exception& error) final;

  /// Bytes read when the event came: just behind its token. Set by stream_json().
  std::uint64_t offset() const { return offset_ == nullptr ? 0 : *offset_; }

 private:
  friend void stream_json(const std::filesystem::path& file, JsonEvents& events);
  const std::uint64_t* offset_ = nullptr;
  std::string error_;
};

/// Sends the events of the whole file. Throws falcon::Error (kHost) when it cannot be read and
/// InputError with line and column when it is no JSON, ends early or holds more than one value.
void stream_json(const std::filesystem::path& file, JsonEvents& events);

/// InputError for something wrong at a byte of the file: says line and column.
[[noreturn]] void refuse_json(const std::filesystem::path& file, std::uint64_t offset,
                              const std::string& message);

}  // namespace falcon::data

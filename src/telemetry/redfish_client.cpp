#include "telemetry/redfish_client.h"

#include <cstdlib>
#include <set>

#include "base/files.h"
#include "base/json.h"
#include "base/text.h"
#include "telemetry/curl_library.h"

namespace falcon::telemetry {
namespace {

using base::Value;

constexpr std::size_t kMaxBytes = 8 << 20;  // of one resource
constexpr int kMaxPages = 100;              // of one collection
constexpr const char* kNextLinks[] = {"Members@odata.nextLink", "@odata.nextLink"};

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value != nullptr ? value : "";
}

/// https://host:port of a URL.
std::string origin_of(const std::string& url) {
  const std::size_t host = url.find("://");
  return url.substr(0, host == std::string::npos ? host : url.find('/', host + 3));
}

std::size_t keep_body(char* data, std::size_t size, std::size_t count, void* out) {
  auto& body = *static_cast<std::string*>(out);
  if (body.size() + size * count > kMaxBytes) return 0;  // breaks the transfer off
  body.append(data, size * count);
  return size * count;
}

// libcurl asks about once a second.
int is_to_end(void* is_interrupted, curl_off_t, curl_off_t, curl_off_t, curl_off_t) {
  return *static_cast<const std::atomic<bool>*>(is_interrupted) ? 1 : 0;
}

}  // namespace

std::optional<RedfishCredentials> RedfishCredentials::find(const std::string& file) {
  if (file.empty()) {
    RedfishCredentials own{variable("FALCONBENCH_REDFISH_USER"),
                           variable("FALCONBENCH_REDFISH_PASSWORD")};
    if (own.user.empty()) return {};
    return own;
  }
  const std::vector<std::string> lines = base::split(base::read_file(file, ExitCode::kHost), '\n');
  if (lines.size() < 2 || base::trim(lines[0]).empty()) {
    throw Error(ExitCode::kHost, file + " does not hold two lines, user and password");
  }
  std::string password = lines[1];
  if (password.ends_with('\r')) password.pop_back();
  return RedfishCredentials{std::string(base::trim(lines[0])), password};
}

struct RedfishClient::Connection {
  const CurlLibrary& curl = CurlLibrary::get();
  CURL* handle = nullptr;
  curl_slist* headers = nullptr;
  std::string body;

  ~Connection() {
    if (handle != nullptr) curl.easy_cleanup(handle);
    if (headers != nullptr) curl.slist_free_all(headers);
  }
  template <class T>
  void set(CURLoption option, T value) {
    is_sound = curl.easy_setopt(handle, option, value) == CURLE_OK && is_sound;
  }
  bool is_sound = true;
};

RedfishClient::RedfishClient(const RedfishAddress& address,
                             const std::optional<RedfishCredentials>& credentials)
    : origin_(origin_of(address.url)), connection_(std::make_unique<Connection>()) {
  Connection& c = *connection_;
  broken_ = c.curl.unavailable;
  if (broken_.empty()) c.handle = c.curl.easy_init();
  if (c.handle == nullptr) {
    is_locked_out_ = true;
    return;
  }
  for (const char* header : {"Accept: application/json", "OData-Version: 4.0"}) {
    c.headers = c.curl.slist_append(c.headers, header);
  }
  c.set(CURLOPT_HTTPHEADER, c.headers);
  c.set(CURLOPT_NOSIGNAL, 1L);
  c.set(CURLOPT_USERAGENT, "falconbench");
  c.set(CURLOPT_TIMEOUT_MS, static_cast<long>(1e3 * kTimeoutS));
  c.set(CURLOPT_CONNECTTIMEOUT_MS, static_cast<long>(1e3 * kTimeoutS));
  c.set(CURLOPT_NOPROGRESS, 0L);
  c.set(CURLOPT_XFERINFOFUNCTION, &is_to_end);
  c.set(CURLOPT_XFERINFODATA, static_cast<void*>(&is_interrupted_));
  c.set(CURLOPT_SSL_VERIFYPEER, 1L);
  c.set(CURLOPT_SSL_VERIFYHOST, 2L);
  if (!address.ca_file.empty()) c.set(CURLOPT_CAINFO, address.ca_file.c_str());
  const char* const scheme = origin_.starts_with("https:") ? "https" : "http";
  c.set(CURLOPT_PROTOCOLS_STR, scheme);
  c.set(CURLOPT_REDIR_PROTOCOLS_STR, scheme);
  c.set(CURLOPT_FOLLOWLOCATION, 1L);  // to another host without the credentials
  c.set(CURLOPT_MAXREDIRS, 3L);
  c.set(CURLOPT_WRITEFUNCTION, &keep_body);
  c.set(CURLOPT_WRITEDATA, static_cast<void*>(&c.body));
  if (credentials && scheme == std::string("https")) {
    c.set(CURLOPT_HTTPAUTH, static_cast<long>(CURLAUTH_BASIC));
    c.set(CURLOPT_USERNAME, credentials->user.c_str());
    c.set(CURLOPT_PASSWORD, credentials->password.c_str());
  }
  if (!c.is_sound) {
    broken_ = "libcurl is older than 7.85";
    is_locked_out_ = true;
  }
}

RedfishClient::~RedfishClient() = default;

void RedfishClient::retry() {
  if (!is_locked_out_) broken_.clear();
}

Measured<Value> RedfishClient::refuse(const std::string& why) {
  broken_ = why;
  return Measured<Value>::missing(why);
}

Measured<Value> RedfishClient::get(const std::string& path) {
  const auto none = [](const std::string& why) { return Measured<Value>::missing(why); };
  if (!broken_.empty()) return none(broken_);
  if (!path.starts_with('/')) return none("not a path of the service: " + base::printable(path));
  Connection& c = *connection_;
  const std::string url = origin_ + path;
  c.body.clear();
  c.set(CURLOPT_URL, url.c_str());
  const CURLcode code = c.curl.easy_perform(c.handle);
  const std::string shown = base::printable(url, 200);
  if (code == CURLE_WRITE_ERROR) return none(shown + ": larger than 8 MiB");
  if (code != CURLE_OK) return refuse(shown + ": " + c.curl.easy_strerror(code));
  long status = 0;
  c.curl.easy_getinfo(c.handle, CURLINFO_RESPONSE_CODE, &status);
  if (status == 401) {
    is_locked_out_ = true;
    return refuse(shown +
                  ": HTTP 401, the service wants other credentials (they are sent over "
                  "https only)");
  }
  if (status != 200) return none(shown + ": HTTP " + std::to_string(status));
  try {
    Value value = base::parse_json(c.body, shown, base::Author::kOthers);
    if (!value.is_object()) return none(shown + ": not a JSON object");
    return value;
  } catch (const InputError& error) {
    return none(error.what());
  }
}

Measured<std::vector<std::string>> RedfishClient::members(const std::string& path) {
  std::vector<std::string> paths;
  std::set<std::string> seen;
  std::string page = path;
  for (int n = 0; n < kMaxPages && !page.empty() && seen.insert(page).second; ++n) {
    const Measured<Value> resource = get(page);
    if (!resource.has_value()) return Measured<std::vector<std::string>>::missing(resource.reason);
    const Value* listed = (*resource).find("Members");
    if (listed == nullptr || !listed->is_list()) {
      return Measured<std::vector<std::string>>::missing(page + " has no list Members");
    }
    for (const Value& member : listed->as_list()) {
      const Value* id = member.find("@odata.id");
      if (id != nullptr && id->is_text()) paths.push_back(id->as_text());
    }
    page.clear();
    for (const char* name : kNextLinks) {
      const Value* next = (*resource).find(name);
      if (next != nullptr && next->is_text()) page = next->as_text();
    }
  }
  return paths;
}

Measured<std::string> link_of(const Value& resource, const char* name) {
  const Value* link = resource.find(name);
  const Value* id = link != nullptr ? link->find("@odata.id") : nullptr;
  if (id != nullptr && id->is_text()) return id->as_text();
  return Measured<std::string>::missing("it names no " + std::string(name));
}

}  // namespace falcon::telemetry

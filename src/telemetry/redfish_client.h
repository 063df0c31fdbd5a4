// Resources of a Redfish service (DMTF DSP0266) by HTTP GET. TLS is verified always; secrets go
// only to the service itself, only over TLS, and stand in no message.
#pragma once
#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/value.h"
#include "falconbench/measured.h"

namespace falcon::telemetry {

struct RedfishCredentials {
  std::string user, password;

  /// Of a file of two lines, else of FALCONBENCH_REDFISH_USER and FALCONBENCH_REDFISH_PASSWORD;
  /// none where neither is. Throws Error for a file that is not so.
  static std::optional<RedfishCredentials> find(const std::string& file);
};

struct RedfishAddress {
  std::string url;      // of the service; a path behind the host is ignored
  std::string ca_file;  // "": the system's certificates
};

/// One connection, kept open. One thread.
class RedfishClient {
 public:
  static constexpr double kTimeoutS = 5;  // of one request

  RedfishClient(const RedfishAddress& address,
                const std::optional<RedfishCredentials>& credentials);
  ~RedfishClient();
  RedfishClient(const RedfishClient&) = delete;
  RedfishClient& operator=(const RedfishClient&) = delete;

  /// The resource at a path such as /redfish/v1/Fabrics; missing: why.
  Measured<base::Value> get(const std::string& path);
  /// Paths of a collection's members, through all of its pages (@odata.nextLink).
  Measured<std::vector<std::string>> members(const std::string& path);
  /// From another thread: a get() that waits fails within about a second, and later ones at once.
  void interrupt() { is_interrupted_ = true; }
  /// Why it is of no use to ask on: the service does not answer, or refuses the credentials (asking
  /// again could lock the account). "" while it is of use; the first is forgotten by retry().
  const std::string& broken() const { return broken_; }
  void retry();

 private:
  struct Connection;
  Measured<base::Value> refuse(const std::string& why);

  std::string origin_;  // https://host:port
  std::unique_ptr<Connection> connection_;
  std::string broken_;
  bool is_locked_out_ = false;
  std::atomic<bool> is_interrupted_ = false;
};

/// The path that a link of a resource leads to: {"@odata.id": "/redfish/v1/..."} under `name`.
Measured<std::string> link_of(const base::Value& resource, const char* name);

}  // namespace falcon::telemetry

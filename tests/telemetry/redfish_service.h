// A Redfish service for tests: redfish_server.py over a copy of one of tests/data/redfish.
#pragma once
#include <string>

#include <sys/types.h>

#include "support/fake_host.h"

namespace falcon::test {

class RedfishService {
 public:
  /// tree: a folder of tests/data/redfish. with_tls: with a certificate for 127.0.0.1 made now, by
  /// openssl.
  explicit RedfishService(const std::string& tree, bool with_tls = false);
  ~RedfishService();
  RedfishService(const RedfishService&) = delete;
  RedfishService& operator=(const RedfishService&) = delete;

  static bool has_openssl();
  std::string url() const;  // http(s)://127.0.0.1:port
  std::string certificate() const { return folder_.path() + "/certificate.pem"; }
  /// Its server.json.
  void rules(const std::string& json) { folder_.file("server.json", json); }
  /// Replaces a resource; path below /redfish/v1.
  void put(const std::string& path, const std::string& json) {
    folder_.file(path + "/index.json", json);
  }
  /// Lines of requests.log: "/redfish/v1/Fabrics without".
  std::string requests() const;
  void stop();

 private:
  FakeRoot folder_;
  bool with_tls_;
  pid_t pid_ = 0;
  int input_ = -1;  // its standard input: closed to end it
  std::string port_;
};

}  // namespace falcon::test

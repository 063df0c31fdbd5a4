#include "redfish_service.h"

#include <cstdlib>
#include <filesystem>
#include <stdexcept>
#include <vector>

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/files.h"

namespace falcon::test {
namespace {

constexpr const char* kServer = FALCON_REDFISH_SERVER;
constexpr const char* kTrees = FALCON_REDFISH_TREES;

void make_certificate(const std::string& folder) {
  const std::string command =
      "openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=test "
      "-addext subjectAltName=IP:127.0.0.1 -keyout " +
      folder + "/key.pem -out " + folder + "/certificate.pem >/dev/null 2>&1";
  if (std::system(command.c_str()) != 0) throw std::runtime_error("no certificate");
}

}  // namespace

bool RedfishService::has_openssl() {
  return std::system("openssl version >/dev/null 2>&1") == 0;
}

RedfishService::RedfishService(const std::string& tree, bool with_tls) : with_tls_(with_tls) {
  std::filesystem::copy(std::string(kTrees) + "/" + tree, folder_.path(),
                        std::filesystem::copy_options::recursive);
  if (with_tls) make_certificate(folder_.path());
  int input[2], output[2];
  if (pipe2(input, O_CLOEXEC) != 0 || pipe2(output, O_CLOEXEC) != 0) {
    throw std::runtime_error("no pipe");
  }
  std::vector<std::string> words = {"python3", "-B", kServer, folder_.path()};
  if (with_tls) words.insert(words.end(), {certificate(), folder_.path() + "/key.pem"});
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, input[0], 0);
  posix_spawn_file_actions_adddup2(&actions, output[1], 1);
  const int error = posix_spawnp(&pid_, "python3", &actions, nullptr, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  close(input[0]);
  close(output[1]);
  input_ = input[1];
  if (error != 0) throw std::runtime_error("python3 does not start");
  char byte = 0;
  while (read(output[0], &byte, 1) == 1 && byte != '\n') port_ += byte;
  close(output[0]);
}

RedfishService::~RedfishService() {
  stop();
}

void RedfishService::stop() {
  if (input_ < 0) return;
  close(input_);
  input_ = -1;
  waitpid(pid_, nullptr, 0);
}

std::string RedfishService::url() const {
  return (with_tls_ ? "https://127.0.0.1:" : "http://127.0.0.1:") + port_;
}

std::string RedfishService::requests() const {
  return base::read_file(folder_.path() + "/requests.log");
}

}  // namespace falcon::test

#include "telemetry/curl_library.h"

#include <dlfcn.h>

namespace falcon::telemetry {
namespace {

constexpr const char* kLibrary = "libcurl.so.4";

template <class Function>
bool find(void* library, const char* name, Function& out) {
  out = reinterpret_cast<Function>(dlsym(library, name));
  return out != nullptr;
}

CurlLibrary load() {
  CurlLibrary curl;
  void* library = dlopen(kLibrary, RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    const char* why = dlerror();
    curl.unavailable = "no libcurl: " + std::string(why != nullptr ? why : kLibrary);
    return curl;
  }
  decltype(&::curl_global_init) global_init = nullptr;
  const bool is_whole = find(library, "curl_global_init", global_init) &&
                        find(library, "curl_easy_init", curl.easy_init) &&
                        find(library, "curl_easy_setopt", curl.easy_setopt) &&
                        find(library, "curl_easy_perform", curl.easy_perform) &&
                        find(library, "curl_easy_getinfo", curl.easy_getinfo) &&
                        find(library, "curl_easy_cleanup", curl.easy_cleanup) &&
                        find(library, "curl_easy_strerror", curl.easy_strerror) &&
                        find(library, "curl_slist_append", curl.slist_append) &&
                        find(library, "curl_slist_free_all", curl.slist_free_all);
  if (!is_whole || global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK) {
    curl.unavailable = std::string(kLibrary) + " cannot be used";
  }
  return curl;
}

}  // namespace

const CurlLibrary& CurlLibrary::get() {
  static const CurlLibrary the_library = load();
  return the_library;
}

}  // namespace falcon::telemetry

// libcurl, opened at run time as NVML is: only a run that asks a chassis needs it, and the program
// starts without the libraries behind it.
#pragma once
#include <string>

#include <curl/curl.h>

namespace falcon::telemetry {

struct CurlLibrary {
  decltype(&::curl_easy_init) easy_init = nullptr;
  decltype(&::curl_easy_setopt) easy_setopt = nullptr;
  decltype(&::curl_easy_perform) easy_perform = nullptr;
  decltype(&::curl_easy_getinfo) easy_getinfo = nullptr;
  decltype(&::curl_easy_cleanup) easy_cleanup = nullptr;
  decltype(&::curl_easy_strerror) easy_strerror = nullptr;
  decltype(&::curl_slist_append) slist_append = nullptr;
  decltype(&::curl_slist_free_all) slist_free_all = nullptr;
  std::string unavailable;  // why there is none; empty: there is

  /// Loaded once, at the first call; never unloaded (its own libraries register exit handlers).
  static const CurlLibrary& get();
};

}  // namespace falcon::telemetry

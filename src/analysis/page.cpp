#include "analysis/page.h"

#include <string_view>

#include "analysis/page_texts.h"
#include "base/codec.h"
#include "base/json.h"
#include "report/writable.h"

namespace falcon::analysis {
namespace {

/// No "</script" and no line separators inside a script element.
std::string script_safe(std::string_view json) {
  std::string out;
  out.reserve(json.size());
  for (std::size_t i = 0; i < json.size(); ++i) {
    const char c = json[i];
    if (c == '<') {
      out += "\\u003c";
    } else if (c == '>') {
      out += "\\u003e";
    } else if (c == '&') {
      out += "\\u0026";
    } else {
      out += c;
    }
  }
  return out;
}

constexpr std::string_view kHead = R"(<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="generator" content="falconbench">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data: blob:">
<link rel="icon" href="data:,">
<title>falconbench report</title>
<style>
)";
constexpr std::string_view kBody = R"(</style>
</head>
<body>
<a class="skip" id="skip" href="#main">Skip to the figures</a>
<noscript><p>This page draws its charts with a script, which is in the file; nothing is loaded from a network. The same figures are written as CSV by falconbench report --csv DIR.</p></noscript>
<script type="application/json" id="data">)";

}  // namespace

std::string page_html(const PageData& data) {
  std::string html(kHead);
  html += texts::page_css;
  html += kBody;
  html += script_safe(base::to_json(report::writable(base::to_value(data))));
  html += "</script>\n";
  for (const std::string_view script : {texts::d3, texts::draw_js, texts::page_js}) {
    html += "<script>\n";
    html += script;
    html += "\n</script>\n";
  }
  return html + "</body>\n</html>\n";
}

std::map<std::string, std::string> page_csv(const PageData& data) {
  std::map<std::string, std::string> files;
  for (const Chart& chart : data.charts) files[chart.id + ".csv"] = chart_csv(chart);
  for (const PageTable& table : data.answers) files[table.id + ".csv"] = table_csv(table);
  for (const PageTable& table : data.tables) files[table.id + ".csv"] = table_csv(table);
  return files;
}

}  // namespace falcon::analysis

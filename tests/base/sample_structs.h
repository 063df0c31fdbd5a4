// A struct with every kind of member that a field list can have.
#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/value.h"
#include "falconbench/fields.h"
#include "falconbench/measured.h"

namespace falcon::base {

struct Choice {
  std::optional<std::int64_t> apples;
  std::optional<double> pears;
};
template <class V>
void visit_fields(Choice& c, V& v) {
  v.choice();
  v.field("apples", c.apples, "whole fruit", at_least(1));
  v.field("pears", c.pears, "fruit by weight", above(0));
}

struct Options {
  double speed = 2;
};
template <class V>
void visit_fields(Options& o, V& v) {
  v.field("speed", o.speed, "how fast", between(1, 9));
}

struct Kind {
  std::string word;
  Options fast;
};
template <class V>
void visit_fields(Kind& k, V& v) {
  v.kind(k.word, "kinds");
  v.field("fast", k.fast, "options of fast");
}

struct Inner {
  int number = 3;
  Measured<double> heat;
  Measured<std::vector<int>> counts;
};
template <class V>
void visit_fields(Inner& i, V& v) {
  v.field("number", i.number, "a number");
  v.field("heat", i.heat, "degrees");
  v.field("counts", i.counts, "a measured list");
}

struct Sample {
  bool flag = false;
  std::int64_t whole = 0;
  double real = 0.5;
  std::string text = "x";
  std::string word = "red";
  std::optional<std::string> maybe;
  std::vector<Inner> list;
  std::map<std::string, double> map;
  NameOrList names;
  std::optional<WordOrCount> often;
  Choice choice;
  Kind kind;
  std::optional<Inner> inner;
  Value any;
};
template <class V>
void visit_fields(Sample& s, V& v) {
  v.field("flag", s.flag, "a flag");
  v.field("whole", s.whole, "a whole number", between(-5, 100));
  v.field("real", s.real, "a real number", Rule{.max = 10});
  v.field("text", s.text, "a text", Rule{.required = true});
  v.field("word", s.word, "a colour", one_of("colours"));
  v.field("maybe", s.maybe, "may be left out");
  v.field("list", s.list, "structs");
  v.field("map", s.map, "numbers by name");
  v.field("names", s.names, "a name or several");
  v.field("often", s.often, "a word or a number", one_of_or_at_least("kinds", 2));
  v.field("choice", s.choice, "one of two");
  v.field("kind", s.kind, "a word with options");
  v.field("inner", s.inner, "may be left out whole");
  v.field("any", s.any, "whatever");
}

inline std::vector<std::string> sample_words(std::string_view list) {
  if (list == "colours") return {"red", "green", "blue"};
  if (list == "kinds") return {"slow", "fast"};
  return {};
}

}  // namespace falcon::base

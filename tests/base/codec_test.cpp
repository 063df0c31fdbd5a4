#include "base/codec.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/json.h"
#include "sample_structs.h"

namespace falcon::base {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

std::vector<std::string> read(const std::string& json, Sample& out) {
  std::vector<Fault> faults;
  Reader(sample_words, faults).read(parse_json(json, "f"), "", out);
  std::vector<std::string> lines;
  for (const Fault& fault : faults) lines.push_back(to_text(fault));
  return lines;
}

std::vector<std::string> faults_of(const std::string& json) {
  Sample out;
  return read(json, out);
}

Sample full() {
  Sample s;
  s.flag = true;
  s.whole = -5;
  s.real = 1e-9;
  s.text = "a\"b";
  s.word = "blue";
  s.maybe = "there";
  s.list = {Inner{1, 36.6, std::vector<int>{1, 2}},
            Inner{2, Measured<double>::missing("no thermometer"), {}}};
  s.map = {{"b", 2}, {"a.b", 0.1}};
  s.names = {"", {"x", "12"}};
  s.choice.pears = 0.25;
  s.kind = {"fast", {7}};
  s.inner = Inner();
  s.any = parse_json("{\"free\": [1, null]}", "f");
  return s;
}

TEST(Codec, EveryKindOfMemberComesBack) {
  const Value written = to_value(full());
  Sample again;
  EXPECT_THAT(read(to_json(written), again), IsEmpty());
  EXPECT_EQ(to_value(again), written);
  EXPECT_EQ(again.list[0].heat, Measured<double>(36.6));
  EXPECT_EQ(*again.list[0].counts, (std::vector<int>{1, 2}));
  EXPECT_EQ(again.list[1].heat.reason, "no thermometer");
  EXPECT_EQ(again.list[1].counts.reason, "not measured");
  EXPECT_EQ(again.names, full().names);
  EXPECT_EQ(again.kind.fast.speed, 7);
  EXPECT_FALSE(again.choice.apples.has_value());
  EXPECT_EQ(to_value(from_value<Sample>(written)), written);
}

TEST(Codec, DefaultsComeBack) {
  const Value written = to_value(Sample());
  EXPECT_EQ(written.find("maybe"), nullptr);
  EXPECT_EQ(written.find("choice"), nullptr) << "nothing chosen: not written";
  EXPECT_EQ(written.find("kind"), nullptr);
  Sample again;
  EXPECT_THAT(read(to_json(written), again), IsEmpty());
  EXPECT_EQ(to_value(again), written);
}

TEST(Codec, MissingMeasurementIsNullBesideItsReason) {
  const Value written = to_value(Inner{2, Measured<double>::missing("why"), {}});
  EXPECT_EQ(to_json(written),
            "{\"number\":2,\"heat\":null,\"heat_reason\":\"why\",\"counts\":null,"
            "\"counts_reason\":\"not measured\"}");
  const Value present = to_value(Inner{2, 1.5, std::vector<int>{}});
  EXPECT_EQ(to_json(present), "{\"number\":2,\"heat\":1.5,\"counts\":[]}");
}

TEST(Codec, WordWithOptionsIsAWordOrAMap) {
  Sample s;
  EXPECT_THAT(read("{\"text\":\"\",\"kind\":\"slow\"}", s), IsEmpty());
  EXPECT_EQ(s.kind.word, "slow");
  EXPECT_EQ(to_json(to_value(s.kind)), "\"slow\"");
  EXPECT_THAT(read("{\"text\":\"\",\"kind\":{\"fast\":{\"speed\":3}}}", s), IsEmpty());
  EXPECT_EQ(to_json(to_value(s.kind)), "{\"fast\":{\"speed\":3.0}}");
  EXPECT_THAT(faults_of("{\"text\":\"\",\"kind\":{\"fsat\":{}}}"),
              ElementsAre("f:1:20: kind: unknown value \"fsat\", did you mean fast? Accepted: "
                          "slow, fast"));
  EXPECT_THAT(faults_of("{\"text\":\"\",\"kind\":{\"slow\":{\"speed\":3}}}"),
              ElementsAre("f:1:20: kind.slow: takes no options"));
  EXPECT_THAT(faults_of("{\"text\":\"\",\"kind\":{\"fast\":{},\"slow\":{}}}"),
              ElementsAre("f:1:19: kind: expected a word (slow or fast) or a map with one of them, "
                          "got a map"));
  EXPECT_THAT(faults_of("{\"text\":\"\",\"kind\":{\"fast\":{\"speed\":10}}}"),
              ElementsAre("f:1:36: kind.fast.speed: must be from 1 to 9, got 10"));
}

TEST(Codec, ChoiceHoldsExactlyOne) {
  EXPECT_THAT(faults_of("{\"text\":\"\",\"choice\":{}}"),
              ElementsAre("f:1:21: choice: expects exactly one of apples or pears"));
  EXPECT_THAT(faults_of("{\"text\":\"\",\"choice\":{\"apples\":1,\"pears\":1}}"),
              ElementsAre("f:1:21: choice: expects exactly one of apples or pears"));
  EXPECT_THAT(faults_of("{\"text\":\"\",\"choice\":{\"aples\":1}}"),
              ElementsAre("f:1:22: choice.aples: unknown key, did you mean apples?"));
  EXPECT_THAT(faults_of("{\"text\":\"\",\"choice\":3}"),
              ElementsAre(HasSubstr("write {apples: 3} or {pears: 3}")));
}

TEST(Codec, AllFaultsAreToldWithTheirPlaces) {
  EXPECT_THAT(faults_of("{\"flag\":1,\n\"whole\":101,\n\"real\":11,\n\"word\":\"gren\",\n"
                        "\"list\":[{\"number\":1.5},\n2],\n\"map\":{\"a\":\"x\"},\n\"names\":[],"
                        "\n\"zzz\":1}"),
              ElementsAre("f:1:9: flag: expected true or false, got the whole number 1",
                          "f:2:9: whole: must be from -5 to 100, got 101",
                          "f:3:8: real: must be at most 10, got 11", "f:1:1: text: is required",
                          HasSubstr("f:4:8: word: unknown value \"gren\", did you mean green?"),
                          "f:5:19: list[0].number: expected a whole number, got 1.5",
                          HasSubstr("f:6:1: list[1]: expected a map with the keys number"),
                          "f:7:12: map.a: expected a finite number, got \"x\"",
                          HasSubstr("f:8:9: names: expected a name, or a list"),
                          HasSubstr("f:9:1: zzz: unknown key; known here: flag, whole")));
}

TEST(Codec, AFaultKeepsTheValueThatWasThere) {
  Sample s;
  s.whole = 7;
  s.maybe = "old";
  EXPECT_EQ(read("{\"text\":\"\",\"whole\":1000,\"maybe\":3}", s).size(), 2u);
  EXPECT_EQ(s.whole, 7);
  EXPECT_EQ(s.maybe, "old");
}

TEST(Codec, NullTakesAnOptionalBack) {
  Sample s = full();
  EXPECT_THAT(read("{\"text\":\"\",\"maybe\":null,\"inner\":null}", s), IsEmpty());
  EXPECT_FALSE(s.maybe.has_value());
  EXPECT_FALSE(s.inner.has_value());
  EXPECT_THAT(read("{\"text\":\"\",\"list\":[null]}", s), IsEmpty()) << "an empty map of defaults";
  EXPECT_EQ(s.list.front().number, 3);
  EXPECT_THAT(faults_of("{\"text\":null}"),
              ElementsAre("f:1:9: text: expected text, got nothing (null)"));
}

TEST(Codec, UnknownKeyThatStandsElsewhereIsFoundByItsLastPart) {
  EXPECT_EQ(unknown_key_text("speed", {"flag", "kind"}, {"flag", "kind.fast.speed"}),
            "unknown key, did you mean kind.fast.speed?");
  EXPECT_EQ(unknown_key_text("flg", {"flag"}, {"x.flg"}), "unknown key, did you mean flag?");
  EXPECT_EQ(unknown_key_text("zzz", {"a", "b"}, {}), "unknown key; known here: a, b");
}

TEST(Codec, OurOwnMessagesFailWithTheGivenCode) {
  try {
    from_value<Inner>(parse_json("{\"number\":\"x\"}", "message"), ExitCode::kWorker);
    FAIL() << "read";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::kWorker);
    EXPECT_STREQ(error.what(), "message:1:11: number: expected a whole number, got \"x\"");
  }
}

TEST(Codec, AnIntThatDoesNotFitIsRefused) {
  EXPECT_THAT(faults_of("{\"text\":\"\",\"inner\":{\"number\":2147483648}}"),
              ElementsAre(HasSubstr("inner.number: must be from -2147483648 to 2147483647")));
}

TEST(Codec, AWordOrACount) {
  Sample s = full();
  EXPECT_THAT(read("{\"text\":\"\",\"often\":\"fast\"}", s), IsEmpty());
  EXPECT_EQ(*s.often, (WordOrCount{"fast", 0}));
  EXPECT_EQ(to_json(*to_value(s).find("often")), "\"fast\"");
  EXPECT_THAT(read("{\"text\":\"\",\"often\":12}", s), IsEmpty());
  EXPECT_EQ(*s.often, (WordOrCount{"", 12}));
  EXPECT_EQ(to_json(*to_value(s).find("often")), "12");
  EXPECT_THAT(faults_of("{\"text\":\"\",\"often\":1}"),
              ElementsAre(HasSubstr("must be at least 2, got 1")));
  EXPECT_THAT(faults_of("{\"text\":\"\",\"often\":\"fasst\"}"), ElementsAre(HasSubstr("fast")));
  EXPECT_THAT(faults_of("{\"text\":\"\",\"often\":2.5}"),
              ElementsAre(HasSubstr("expected a whole number or slow or fast")));
}

}  // namespace
}  // namespace falcon::base

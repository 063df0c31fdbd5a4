#include <chrono>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/codec.h"
#include "base/files.h"
#include "base/json.h"
#include "base/text.h"
#include "redfish_service.h"
#include "telemetry/catalog.h"
#include "telemetry/session.h"

namespace falcon::telemetry {
namespace {

using test::RedfishService;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

constexpr const char* kSlot1 = "Fabrics/PCIe/Switches/Drawer2/Ports/Slot1/Metrics";
constexpr const char* kSlot1Path = "/redfish/v1/Fabrics/PCIe/Switches/Drawer2/Ports/Slot1/Metrics";

/// One session over a service, with a clock that tests move.
class Watch {
 public:
  explicit Watch(const RedfishAddress& address, const std::string& credentials_file = "",
                 const std::string& raw_file = "")
      : Watch({{"falcon", address, credentials_file, {}}}, raw_file) {}
  explicit Watch(std::vector<WatchedChassis> chassis, const std::string& raw_file = "") {
    SamplerContext context;
    context.chassis = std::move(chassis);
    session_ = std::make_unique<Session>(
        make_samplers(context, {{"redfish"}}),
        SessionOptions{.series = true, .raw_file = raw_file, .clock = [this] { return now_s_; }});
    session_->tick();
    session_->begin_window(now_s_);
  }
  void step(double seconds = 1) {
    now_s_ += seconds;
    session_->tick();
    session_->end_window(now_s_);
  }
  Telemetry result() {
    session_->stop();
    return session_->result();
  }
  Measured<std::vector<FabricPortTelemetry>> ports() { return result().utilization.fabric.ports; }
  FabricPortTelemetry port(const std::string& name, const std::string& switch_name = "Drawer2") {
    const auto all = ports();
    for (const FabricPortTelemetry& one : all.value.value_or(std::vector<FabricPortTelemetry>())) {
      if (one.port == name && one.switch_name == switch_name) return one;
    }
    ADD_FAILURE() << name << ": " << all.reason;
    return {};
  }

 private:
  double now_s_ = 100;
  std::unique_ptr<Session> session_;
};

std::string metrics(const std::string& members) {
  return R"({"@odata.id": "x", "Id": "Metrics")" + members + "}";
}

class Redfish : public testing::Test {
  // A proxy of the environment has no way to this host.
  test::WithVariable no_proxy_{"no_proxy", "127.0.0.1"};
};

TEST_F(Redfish, PortsOfTheChassisWithWhatTheyMoved) {
  RedfishService service("falcon4016");
  Watch watch({service.url(), ""});
  service.put(kSlot1, metrics(R"(, "RXBytes": 5000000000, "TXBytes": 4500000000, "PCIeErrors":
      {"CorrectableErrorCount": 2, "NonFatalErrorCount": 1, "FatalErrorCount": 0,
       "ReplayCount": 4})"));
  watch.step(2);
  ASSERT_EQ(watch.ports().value->size(), 18U);
  const FabricPortTelemetry port = watch.port("Slot1");
  EXPECT_EQ(port.chassis, "falcon");
  EXPECT_EQ(port.fabric, "PCIe");
  EXPECT_EQ(*port.type, "DownstreamPort");
  EXPECT_EQ(*port.link_status, "LinkUp");
  EXPECT_EQ(*port.width, 16);
  EXPECT_DOUBLE_EQ(*port.speed_gbit_per_s, 126);
  EXPECT_DOUBLE_EQ(*port.speed_max_gbit_per_s, 252);
  EXPECT_DOUBLE_EQ(port.rx_bytes_per_s.value->mean, 1.5e9);
  EXPECT_DOUBLE_EQ(port.tx_bytes_per_s.value->mean, 0.25e9);
  EXPECT_EQ(*watch.port("Host1").type, "UpstreamPort");
  EXPECT_DOUBLE_EQ(watch.port("Host1").rx_bytes_per_s.value->mean, 0);
  EXPECT_EQ(watch.result().series.count("falcon/Drawer2/Slot1/rx_bytes_per_s"), 1U);
}

TEST_F(Redfish, PortsAreNamedAfterTheDrawersAndCablesOfTheSystemFile) {
  RedfishService service("falcon4016");
  SystemDrawer drawer;
  drawer.switch_name = "Drawer2";
  drawer.host_links["left"].port = "Host1";
  drawer.host_links["right"];
  Watch watch({{"falcon", {service.url(), ""}, "", {{"2", drawer}, {"3", {}}}}});
  watch.step();
  EXPECT_EQ(*watch.port("Host1").drawer, 2);
  EXPECT_EQ(*watch.port("Host1").host_link, "left");
  EXPECT_EQ(*watch.port("Slot1").drawer, 2);
  EXPECT_THAT(watch.port("Slot1").host_link.reason, HasSubstr("names no host link"));
  EXPECT_THAT(watch.port("Host1", "Drawer1").drawer.reason, HasSubstr("names no drawer"));
  EXPECT_FALSE(watch.port("Host1", "Drawer1").host_link.has_value());
}

TEST_F(Redfish, EveryChassisIsAskedAndNamed) {
  RedfishService one("falcon4016"), other("sunfish-cxl");
  Watch watch({{"one", {one.url(), ""}, "", {}}, {"other", {other.url(), ""}, "", {}}});
  watch.step();
  ASSERT_EQ(watch.ports().value->size(), 26U);
  EXPECT_EQ(watch.port("Host1").chassis, "one");
  EXPECT_EQ(watch.port("F1", "CXL1").chassis, "other");
  EXPECT_EQ(watch.result().series.count("one/Drawer1/Host1/rx_bytes_per_s"), 1U);
}

TEST_F(Redfish, AChassisThatDoesNotAnswerCostsAnotherNothing) {
  RedfishService one("falcon4016"), other("falcon4016");
  const std::string url = other.url();
  other.stop();
  Watch watch({{"other", {url, ""}, "", {}}, {"one", {one.url(), ""}, "", {}}});
  watch.step();
  EXPECT_EQ(watch.ports().value->size(), 18U);
  std::vector<std::string> gaps;
  for (const SourceTelemetry& source : watch.result().utilization.sources) {
    if (source.sampler == "redfish")
      gaps.push_back(source.scope + " " + base::join(source.unsupported, ","));
  }
  EXPECT_THAT(gaps,
              testing::ElementsAre(AllOf(HasSubstr("other ports: "), HasSubstr(url)), "one "));
}

TEST_F(Redfish, ErrorsAreThoseOfTheWindow) {
  RedfishService service("falcon4016");
  Watch watch({service.url(), ""});
  watch.step();
  service.put(kSlot1, metrics(R"(, "RXBytes": 5000000000, "TXBytes": 4500000000, "PCIeErrors":
      {"CorrectableErrorCount": 2, "NonFatalErrorCount": 1, "FatalErrorCount": 2,
       "ReplayCount": 4})"));
  watch.step();
  const FabricPortTelemetry port = watch.port("Slot1");
  EXPECT_EQ(*port.correctable_errors, 2);
  EXPECT_EQ(*port.uncorrectable_errors, 3);
  EXPECT_EQ(*port.replays, 4);
  EXPECT_EQ(*watch.port("Slot2").replays, 0);
}

TEST_F(Redfish, ACollectionOfManyPagesIsReadWhole) {
  RedfishService service("falcon4016");
  service.rules(R"({"page": 2})");
  Watch watch({service.url(), ""});
  watch.step();
  EXPECT_EQ(watch.ports().value->size(), 18U);
}

TEST_F(Redfish, PagesThatLeadBackEnd) {
  RedfishService service("falcon4016");
  service.put("Fabrics", R"({"Members": [{"@odata.id": "/redfish/v1/Fabrics/PCIe"}],
                             "Members@odata.nextLink": "/redfish/v1/Fabrics"})");
  Watch watch({service.url(), ""});
  watch.step();
  EXPECT_EQ(watch.ports().value->size(), 18U);
}

TEST_F(Redfish, CountersThatBeginAnewAreNoTraffic) {
  RedfishService service("falcon4016");
  service.put(kSlot1, metrics(R"(, "RXBytes": 4294967000, "TXBytes": 10)"));
  Watch watch({service.url(), ""});
  service.put(kSlot1, metrics(R"(, "RXBytes": 300, "TXBytes": 30)"));
  watch.step();
  EXPECT_EQ(watch.port("Slot1").rx_bytes_per_s.reason, "the counter began anew");
  EXPECT_DOUBLE_EQ(watch.port("Slot1").tx_bytes_per_s.value->mean, 20);
}

TEST_F(Redfish, WhatIsMissingOrOddIsNullWithAReason) {
  RedfishService service("falcon4016");
  service.put(
      kSlot1,
      metrics(R"(, "RXBytes": "many", "TXBytes": -1, "PCIeErrors": {"ReplayCount": null})"));
  service.put("Fabrics/PCIe/Switches/Drawer2/Ports/Slot2",
              R"({"Id": "Slot2", "Width": 16, "ActiveWidth": "x16", "LinkStatus": 7})");
  service.put("Fabrics/PCIe/Switches/Drawer2/Ports/Slot3/Metrics",
              metrics(R"(, "RXBytes": 1e3, "TXBytes": 18446744073709551615)"));
  service.rules(
      R"({"text": {"/redfish/v1/Fabrics/PCIe/Switches/Drawer2/Ports/Slot4/Metrics": "<html>"},
      "status": {"/redfish/v1/Fabrics/PCIe/Switches/Drawer2/Ports/Slot5": 500}})");
  Watch watch({service.url(), ""});
  watch.step();
  const FabricPortTelemetry one = watch.port("Slot1");
  EXPECT_EQ(one.rx_bytes_per_s.reason, "PortMetrics: RXBytes is not a number");
  EXPECT_EQ(one.tx_bytes_per_s.reason, "PortMetrics: TXBytes is negative");
  EXPECT_EQ(one.replays.reason, "PortMetrics: PCIeErrors.ReplayCount is null");
  EXPECT_EQ(one.correctable_errors.reason,
            "PortMetrics: PCIeErrors.CorrectableErrorCount is not given");
  const FabricPortTelemetry two = watch.port("Slot2");
  EXPECT_EQ(two.width.reason, "ActiveWidth is not a number");
  EXPECT_EQ(*two.width_max, 16);
  EXPECT_EQ(two.link_status.reason, "LinkStatus is not text");
  EXPECT_EQ(two.rx_bytes_per_s.reason, "it names no Metrics");
  EXPECT_TRUE(watch.port("Slot3").tx_bytes_per_s.has_value());
  EXPECT_THAT(watch.port("Slot4").rx_bytes_per_s.reason, HasSubstr("Slot4/Metrics:1:1: "));
  EXPECT_THAT(watch.port("Slot5").width.reason, HasSubstr("HTTP 500"));
  EXPECT_TRUE(watch.port("Host1").rx_bytes_per_s.has_value());
}

// A key twice, widths that contradict each other, and no byte counters.
TEST_F(Redfish, AServiceOfAnotherMakerWithItsOddities) {
  RedfishService service("sunfish-cxl");
  Watch watch({service.url(), ""});
  watch.step();
  ASSERT_EQ(watch.ports().value->size(), 8U);
  const FabricPortTelemetry port = watch.port("F1", "CXL1");
  EXPECT_EQ(*port.type, "InterswitchPort");
  EXPECT_EQ(port.width.reason, "ActiveWidth and Width contradict each other: 16 of 8");
  EXPECT_EQ(port.width_max.reason, port.width.reason);
  EXPECT_DOUBLE_EQ(*port.speed_gbit_per_s, 256);
  EXPECT_EQ(port.rx_bytes_per_s.reason, "PortMetrics: RXBytes is not given");
}

TEST_F(Redfish, AFabricWithoutSwitchesHasNoPorts) {
  RedfishService service("sunfish-nvmeof");
  Watch watch({service.url(), ""});
  watch.step();
  EXPECT_EQ(watch.ports().reason, "fabric NVMe-oF: it names no Switches");
}

TEST_F(Redfish, AServiceThatIsNotThereCostsTheRunNothing) {
  RedfishService service("falcon4016");
  const std::string url = service.url();
  service.stop();
  Watch watch({url, ""});
  watch.step();
  EXPECT_THAT(watch.ports().reason, HasSubstr(url + "/redfish/v1/Fabrics: "));
}

TEST_F(Redfish, AServiceThatStopsAnsweringLeavesAGap) {
  RedfishService service("falcon4016");
  Watch watch({service.url(), ""});
  watch.step();
  service.stop();
  watch.step(3);
  const Summary seen = *watch.port("Slot1").rx_bytes_per_s.value;
  EXPECT_EQ(seen.count, 1);
  EXPECT_DOUBLE_EQ(seen.covered_pct, 25);
}

TEST_F(Redfish, OneThatIsSlowIsGivenUpAfterItsTime) {
  RedfishService service("falcon4016");
  service.rules(R"({"delay_s": {"/redfish/v1/Fabrics": 20}})");
  const double began_s = steady_now_s();
  Watch watch({service.url(), ""});
  EXPECT_LT(steady_now_s() - began_s, 2 * RedfishClient::kTimeoutS);
  EXPECT_THAT(watch.ports().reason, HasSubstr("Timeout was reached"));
}

TEST_F(Redfish, OneThatIsSlowDoesNotHoldTheEndOfARun) {
  RedfishService service("falcon4016");
  service.rules(R"({"delay_s": {"/redfish/v1/Fabrics": 20}})");
  SamplerContext context;
  context.chassis = {{"falcon", {service.url(), ""}, "", {}}};
  Session session(make_samplers(context, {{"redfish"}}), {.interval_ms = 100});
  session.start();
  std::this_thread::sleep_for(std::chrono::milliseconds(300));
  const double stopping_s = steady_now_s();
  session.stop();
  EXPECT_LT(steady_now_s() - stopping_s, 2.5);
  EXPECT_THAT(session.result().utilization.fabric.ports.reason, HasSubstr("Operation was aborted"));
}

class RedfishTls : public Redfish {
 protected:
  void SetUp() override {
    if (!RedfishService::has_openssl()) GTEST_SKIP() << "no openssl";
    service_ = std::make_unique<RedfishService>("falcon4016", true);
    service_->rules(R"({"user": "monitor", "password": "open sesame"})");
    secrets_.file("secrets", "monitor\nopen sesame\n");
    secrets_.file("wrong", "monitor\nopen barley\n");
  }
  RedfishAddress address() const { return {service_->url(), service_->certificate()}; }
  std::string secrets(const char* name = "secrets") const { return secrets_.path() + "/" + name; }

  test::FakeRoot secrets_;
  std::unique_ptr<RedfishService> service_;
};

TEST_F(RedfishTls, CredentialsOfAFile) {
  Watch watch(address(), secrets());
  watch.step();
  EXPECT_EQ(watch.ports().value->size(), 18U);
}

TEST_F(RedfishTls, CredentialsOfTheEnvironment) {
  const test::WithVariable user("FALCONBENCH_REDFISH_USER", "monitor");
  const test::WithVariable password("FALCONBENCH_REDFISH_PASSWORD", "open sesame");
  Watch watch(address());
  watch.step();
  EXPECT_EQ(watch.ports().value->size(), 18U);
}

// Many controllers lock an account after a few failures.
TEST_F(RedfishTls, CredentialsThatAreRefusedAreNotTriedAgain) {
  Watch watch(address(), secrets("wrong"));
  for (int i = 0; i < 5; ++i) watch.step();
  EXPECT_THAT(watch.ports().reason, HasSubstr("HTTP 401"));
  const std::string requests = service_->requests();
  EXPECT_EQ(std::count(requests.begin(), requests.end(), '\n'), 1) << requests;
}

TEST_F(RedfishTls, SecretsStandNowhere) {
  const std::string raw = secrets_.path() + "/raw.jsonl";
  for (const char* name : {"secrets", "wrong"}) {
    Watch watch(address(), secrets(name), raw);
    watch.step();
    const std::string all = base::to_json(base::to_value(watch.result())) + base::read_file(raw);
    EXPECT_THAT(all, AllOf(Not(HasSubstr("sesame")), Not(HasSubstr("barley"))));
    EXPECT_THAT(all, Not(HasSubstr("monitor")));
  }
}

TEST_F(RedfishTls, ACertificateThatNobodyVouchesForIsRefused) {
  Watch watch({service_->url(), ""}, secrets());
  EXPECT_THAT(watch.ports().reason, HasSubstr("certificate"));
  EXPECT_THROW(service_->requests(), Error) << "nothing was sent";
}

TEST_F(RedfishTls, ACertificateOfAnotherHostIsRefused) {
  RedfishAddress other = address();
  other.url.replace(other.url.find("127.0.0.1"), 9, "localhost");
  Watch watch(other, secrets());
  EXPECT_FALSE(watch.ports().has_value());
  EXPECT_THROW(service_->requests(), Error) << "nothing was sent";
}

TEST_F(RedfishTls, FilesOfCredentialsThatAreNotSoSayWhy) {
  secrets_.file("short", "monitor");
  Watch watch(address(), secrets("short"));
  EXPECT_THAT(watch.ports().reason, HasSubstr("short does not hold two lines"));
  Watch none(address(), secrets("absent"));
  EXPECT_THAT(none.ports().reason, HasSubstr("absent"));
}

TEST_F(Redfish, CredentialsAreNotSentInTheClear) {
  test::FakeRoot folder;
  folder.file("secrets", "monitor\nopen sesame\n");
  RedfishService service("falcon4016");
  Watch watch({service.url(), ""}, folder.path() + "/secrets");
  watch.step();
  EXPECT_EQ(watch.ports().value->size(), 18U);
  EXPECT_THAT(service.requests(), AllOf(HasSubstr(kSlot1Path), Not(HasSubstr(" with\n"))));
}

TEST_F(Redfish, ASamplerThatIsNotChosenAsksNobody) {
  SamplerContext context;
  context.chassis = {{"falcon", {"https://nowhere.example", ""}, "", {}}};
  Session session(make_samplers(context, {{"cpu"}}), {});
  session.tick();
  EXPECT_EQ(session.result().utilization.fabric.ports.reason,
            "redfish is not among telemetry.samplers");
}

TEST_F(Redfish, WithoutAChassisThereIsAReason) {
  const Session session(make_samplers({}, {}), {});
  EXPECT_THAT(session.result().utilization.fabric.ports.reason, HasSubstr("used no chassis"));
}

}  // namespace
}  // namespace falcon::telemetry

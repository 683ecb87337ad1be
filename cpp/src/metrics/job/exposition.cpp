#include "metrics/job/exposition.h"

#include <prometheus/client_metric.h>
#include <prometheus/metric_family.h>
#include <prometheus/metric_type.h>
#include <prometheus/text_serializer.h>

#include <optional>
#include <utility>
#include <vector>

namespace tandem::metrics {
namespace {

using prometheus::ClientMetric;
using prometheus::MetricFamily;
using prometheus::MetricType;

class Families {
 public:
  explicit Families(const Job& job) : job_(job) {}

  void of_job(const char* name, const char* help, MetricType type, double value) {
    MetricFamily& family = add(name, help, type);
    family.metric.push_back(metric(type, value));
  }
  // `value_of(rank)`: nothing where it is not known.
  template <typename ValueOf>
  void of_ranks(const char* name, const char* help, MetricType type, const ValueOf& value_of) {
    MetricFamily family{name, help, type, {}};
    for (const Rank& rank : job_.ranks) {
      const auto value = value_of(rank);
      if (rank.rank < 0 || !value) continue;
      ClientMetric one = metric(type, static_cast<double>(*value));
      one.label.push_back({"host", rank.host});
      one.label.push_back({"rank", std::to_string(rank.rank)});
      // Ranks are numbered anew with each set of them: what a process counts is its own.
      if (type == MetricType::Counter) one.label.push_back({"pid", std::to_string(rank.pid)});
      family.metric.push_back(std::move(one));
    }
    if (!family.metric.empty()) families_.push_back(std::move(family));
  }
  std::string text() const { return prometheus::TextSerializer().Serialize(families_); }

 private:
  MetricFamily& add(const char* name, const char* help, MetricType type) {
    families_.push_back({name, help, type, {}});
    return families_.back();
  }
  ClientMetric metric(MetricType type, double value) const {
    ClientMetric one;
    one.label.push_back({"run", job_.run});
    (type == MetricType::Counter ? one.counter.value : one.gauge.value) = value;
    return one;
  }

  const Job& job_;
  std::vector<MetricFamily> families_;
};

}  // namespace

std::string exposition(const Job& job) {
  Families families(job);
  if (!job.is_whole && job.ranks.empty()) return families.text();
  families.of_job("tandem_world_size", "Ranks that train", MetricType::Gauge, job.world_size);
  families.of_job("tandem_serves_all_ranks",
                  "1: the ranks of all nodes are here; 0: those of this node alone, scrape the others too",
                  MetricType::Gauge, job.is_whole ? 1 : 0);
  families.of_job("tandem_membership_epoch", "Sets of ranks so far, from 1; 0: the program does not train elastically",
                  MetricType::Gauge, static_cast<double>(job.membership_epoch));
  families.of_job("tandem_restarts_total", "Processes, or all of them at once, that this launcher started again",
                  MetricType::Counter, static_cast<double>(job.restarts));
  families.of_job("tandem_uptime_seconds", "Since the launcher was started", MetricType::Gauge, job.seconds);
  families.of_ranks("tandem_step", "Steps that are completed", MetricType::Gauge,
                    [](const Rank& rank) { return rank.step; });
  families.of_ranks("tandem_epoch", "Epoch over the data, from 1", MetricType::Gauge,
                    [](const Rank& rank) { return rank.epoch; });
  families.of_ranks("tandem_samples_total", "Samples that this process has trained", MetricType::Counter,
                    [](const Rank& rank) { return rank.samples; });
  families.of_ranks("tandem_loss", "The last loss", MetricType::Gauge, [](const Rank& rank) { return rank.loss; });
  families.of_ranks("tandem_wait_seconds_total", "Time for which this process has waited for other ranks",
                    MetricType::Counter, [](const Rank& rank) { return rank.wait_seconds; });
  families.of_ranks("tandem_rpc_calls_total", "Calls of this process to others, that have ended", MetricType::Counter,
                    [](const Rank& rank) { return rank.calls; });
  families.of_ranks("tandem_rpc_failed_calls_total", "Those that failed", MetricType::Counter,
                    [](const Rank& rank) { return rank.failed_calls; });
  families.of_ranks("tandem_rpc_sent_bytes_total", "Sent by calls, with their tensors", MetricType::Counter,
                    [](const Rank& rank) { return rank.sent_bytes; });
  families.of_ranks("tandem_rpc_received_bytes_total", "Received as answers, with their tensors", MetricType::Counter,
                    [](const Rank& rank) { return rank.received_bytes; });
  families.of_ranks("tandem_rpc_seconds_total", "Time that calls which succeeded took, all together", MetricType::Counter,
                    [](const Rank& rank) { return rank.call_seconds; });
  families.of_ranks("tandem_resident_memory_bytes", "Memory of this process", MetricType::Gauge,
                    [](const Rank& rank) { return rank.resident_bytes; });
  families.of_ranks("tandem_report_age_seconds", "Since the rank's last report", MetricType::Gauge,
                    [](const Rank& rank) { return rank.age; });
  return families.text();
}

}  // namespace tandem::metrics

#include "tandem/elastic.h"

namespace tandem::elastic {

void Context::step() {
  const Session::Next next = session_.step();
  if (next == Session::Next::kGoOn) return;
  session_.commit(state_.content());
  if (next != Session::Next::kCommit) throw MembershipChange(next == Session::Next::kLeave);
}

Outcome run(const State& state, const std::function<void(Context&)>& train, const Options& options) {
  Session session(options);
  session.commit(state.content());
  while (session.meet()) {
    state.load(session.committed());
    Context context(session, state);
    try {
      train(context);
      session.done();
      return Outcome::kFinished;
    } catch (const MembershipChange& change) {
      if (!change.leaves()) continue;
      session.left();
      return Outcome::kLeft;
    } catch (...) {
      // A lost rank shows as whatever was under way: an error of the group, of the reducer, of the program's own.
      if (!session.has_ended()) throw;
    }
  }
  return session.has_left() ? Outcome::kLeft : Outcome::kNotNeeded;
}

}  // namespace tandem::elastic

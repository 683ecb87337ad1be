package dist

import (
	"context"

	"tandem.example/gotorch/internal/c"
)

// FlightRecord is the last collectives of this process, of all its groups, as JSON, oldest first: for whoever asks why
// ranks wait for each other. tdm_flight_record in tandem.h lists the fields. The environment's
// TANDEM_FLIGHT_RECORD=PREFIX has it written to PREFIX.rank<r>.json when a collective times out or loses a peer;
// TANDEM_FLIGHT_RECORD_SIZE is how many entries are kept (2000).
func FlightRecord() ([]byte, error) {
	record, failure := c.FlightRecord()
	return record, errorOf(context.Background(), -1, failure)
}

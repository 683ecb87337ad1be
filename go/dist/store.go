package dist

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"tandem.example/gotorch"
	"tandem.example/gotorch/internal/bridge"
	"tandem.example/gotorch/internal/c"
	"tandem.example/gotorch/internal/leak"
	"tandem.example/gotorch/internal/names"
)

// Store is a key-value store through which processes meet. Several goroutines may use one, but a TCP store serves them
// one after another: a Get that waits delays the others.
type Store struct {
	mutex  sync.RWMutex // held for reading while the handle is in use
	handle c.Store
	watch  *leak.Watch
	base   *Store       // that this one's keys lie in
	limit  atomic.Int64 // milliseconds that a Get or Wait takes at most; of a store with a base that one's
	held   *heldStore
}

// heldStore counts who uses a handle longer than Close is to wait for. The last one frees it.
type heldStore struct {
	mutex  sync.Mutex
	handle c.Store
	users  int
}

func (h *heldStore) release() {
	h.mutex.Lock()
	defer h.mutex.Unlock()
	if h.users--; h.users == 0 {
		c.FreeStore(h.handle)
	}
}

const storeTimeout = 5 * time.Minute

func init() {
	bridge.Store = func(store any) (c.Store, func(), error) { return store.(*Store).use("store") }
}

func newStore(handle c.Store, failure *c.Failure, base *Store) (*Store, error) {
	if failure != nil {
		return nil, errorOf(context.Background(), -1, failure)
	}
	s := &Store{handle: handle, base: base, held: &heldStore{handle: handle, users: 1}}
	s.limit.Store(storeTimeout.Milliseconds())
	s.watch = leak.Track(s, "dist.Store")
	return s, nil
}

// TCPStoreOptions of [NewTCPStore].
type TCPStoreOptions struct {
	Server      bool          // this process listens
	WorldSize   int           // with WaitWorkers: how many processes connect
	WaitWorkers bool          // wait until all have connected
	Timeout     time.Duration // of connecting and of each Get; 0: five minutes
}

// NewTCPStore listens, or connects to the process that does. Port 0 on the server is any free one; see [Store.Port].
func NewTCPStore(host string, port int, options TCPStoreOptions) (*Store, error) {
	handle, failure := c.TCPStore(host, uint16(port), c.TCPOptions{
		IsServer: options.Server, WorldSize: options.WorldSize, WaitWorkers: options.WaitWorkers,
		TimeoutMS: milliseconds(options.Timeout, storeTimeout),
	})
	s, err := newStore(handle, failure, nil)
	if err == nil {
		s.limit.Store(milliseconds(options.Timeout, storeTimeout))
	}
	return s, err
}

// NewFileStore keeps keys in a file that all processes see. With their number given it is removed when the last has
// closed it; 0: it stays.
func NewFileStore(path string, worldSize int) (*Store, error) {
	handle, failure := c.FileStore(path, worldSize)
	return newStore(handle, failure, nil)
}

// NewHashStore keeps keys in this process, for ranks that are goroutines.
func NewHashStore() (*Store, error) {
	handle, failure := c.HashStore()
	return newStore(handle, failure, nil)
}

// NewPrefixStore is store with "prefix/" before each key.
func NewPrefixStore(prefix string, store *Store) (*Store, error) {
	handle, done, err := store.use("store_prefix")
	if err != nil {
		return nil, err
	}
	defer done()
	made, failure := c.PrefixStore(prefix, handle)
	return newStore(made, failure, store)
}

// milliseconds of a duration, rounded up; 0 is the fallback, negative ones are none at all.
func milliseconds(d, fallback time.Duration) int64 {
	if d == 0 {
		d = fallback
	}
	if d < 0 {
		return -1
	}
	return int64((d + time.Millisecond - 1) / time.Millisecond)
}

// use gives the handle, which done releases.
func (s *Store) use(op string) (handle c.Store, done func(), err error) {
	s.mutex.RLock()
	if s.handle == nil {
		s.mutex.RUnlock()
		return nil, nil, closed(op, "store")
	}
	return s.handle, s.mutex.RUnlock, nil
}

// hold is use for a call that goes on after its caller has gone: Close does not wait for it.
func (s *Store) hold(op string) (handle c.Store, release func(), err error) {
	handle, done, err := s.use(op)
	if err != nil {
		return nil, nil, err
	}
	defer done()
	s.held.mutex.Lock()
	defer s.held.mutex.Unlock()
	s.held.users++
	return handle, s.held.release, nil
}

func (s *Store) with(op string, call func(c.Store) *c.Failure) error {
	handle, done, err := s.use(op)
	if err != nil {
		return err
	}
	defer done()
	return errorOf(context.Background(), -1, call(handle))
}

// Close frees the store; calls that wait in other goroutines end first. A second Close does nothing.
func (s *Store) Close() error {
	if s.watch.Done() {
		s.mutex.Lock()
		defer s.mutex.Unlock()
		s.handle = nil
		s.held.release()
	}
	return nil
}

// Port of a TCP store, 0 of another.
func (s *Store) Port() (port int) {
	s.with("store_port", func(h c.Store) *c.Failure { port = int(c.StorePort(h)); return nil })
	return port
}

// Set a key.
func (s *Store) Set(key string, value []byte) error {
	return s.with("store_set", func(h c.Store) *c.Failure { return c.StoreSet(h, key, value) })
}

// Get waits for a key, until ctx ends or as long as [Store.SetTimeout] says, and gives its value.
func (s *Store) Get(ctx context.Context, key string) (value []byte, err error) {
	if err := s.wait(ctx, "store_get", key); err != nil {
		return nil, err
	}
	err = s.with("store_get", func(h c.Store) (failure *c.Failure) { value, failure = c.StoreGet(h, key); return })
	return value, err
}

// Add to a counter, which begins at 0, and give its new value.
func (s *Store) Add(key string, amount int64) (sum int64, err error) {
	err = s.with("store_add", func(h c.Store) (failure *c.Failure) { sum, failure = c.StoreAdd(h, key, amount); return })
	return sum, err
}

// Check tells whether all keys are there.
func (s *Store) Check(keys ...string) (there bool, err error) {
	err = s.with("store_check", func(h c.Store) (failure *c.Failure) { there, failure = c.StoreCheck(h, keys); return })
	return there, err
}

// Delete a key, and tell whether it was there.
func (s *Store) Delete(key string) (deleted bool, err error) {
	err = s.with("store_delete", func(h c.Store) (failure *c.Failure) { deleted, failure = c.StoreDelete(h, key); return })
	return deleted, err
}

// Wait for keys, until ctx ends or as long as [Store.SetTimeout] says.
func (s *Store) Wait(ctx context.Context, keys ...string) error {
	return s.wait(ctx, "store_wait", keys...)
}

// wait asks again and again: a call cannot be ended from outside, and one that waits delays those of other goroutines.
func (s *Store) wait(ctx context.Context, op string, keys ...string) error {
	start, limit := time.Now(), s.timeout()
	if ctx.Done() == nil {
		return s.with(op, func(h c.Store) *c.Failure { return c.StoreWait(h, keys, limit) })
	}
	for pause := int64(10); ; pause = min(2*pause, 200) {
		if ctx.Err() != nil {
			return ended(ctx, op, keys)
		}
		last := false
		if limit >= 0 {
			left := limit - time.Since(start).Milliseconds()
			pause, last = max(min(pause, left), 1), left <= pause
		}
		late := false // of this try alone
		if err := s.with(op, func(h c.Store) *c.Failure {
			failure := c.StoreWait(h, keys, pause)
			if late = failure != nil && gotorch.Code(failure.Code) == gotorch.ErrTimeout; late {
				return nil
			}
			return failure
		}); err != nil || !late {
			return err
		}
		if last && ctx.Err() == nil {
			return &Error{Err: &gotorch.Error{Code: gotorch.ErrTimeout, Op: names.Operation(op), Message: fmt.Sprintf(
				"keys %q are not there after %v, which is the store's timeout (dist.Store.SetTimeout)", keys,
				time.Duration(limit)*time.Millisecond)}, Rank: -1}
		}
	}
}

// ended is the error of a wait whose context ended.
func ended(ctx context.Context, op string, keys []string) error {
	code := gotorch.ErrAborted
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		code = gotorch.ErrTimeout
	}
	return &Error{Err: &gotorch.Error{Code: code, Op: names.Operation(op),
		Message: fmt.Sprintf("the context ended while keys %q were waited for", keys)}, Rank: -1, cause: context.Cause(ctx)}
}

// timeout of the store that has the keys.
func (s *Store) timeout() int64 {
	for s.base != nil {
		s = s.base
	}
	return s.limit.Load()
}

// CompareSet sets a key when it has the expected value, "" for none, and gives the value that it has then.
func (s *Store) CompareSet(key, expected, desired string) (value []byte, err error) {
	err = s.with("store_compare_set", func(h c.Store) (failure *c.Failure) {
		value, failure = c.StoreCompareSet(h, key, expected, desired)
		return
	})
	return value, err
}

// SetTimeout of each Get and Wait; five minutes at first. It is also that of the store whose keys a prefix store has.
func (s *Store) SetTimeout(timeout time.Duration) error {
	limit := milliseconds(timeout, time.Millisecond)
	err := s.with("store_set_timeout", func(h c.Store) *c.Failure { return c.StoreSetTimeout(h, limit) })
	if err == nil {
		for s.base != nil {
			s = s.base
		}
		s.limit.Store(limit)
	}
	return err
}

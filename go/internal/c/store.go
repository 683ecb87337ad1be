package c

// #include "shim.h"
import "C"
import "unsafe"

func store(s Store) *C.tdm_store { return (*C.tdm_store)(unsafe.Pointer(s)) }

// TCPOptions are tdm_tcp_store_options.
type TCPOptions struct {
	IsServer, WaitWorkers bool
	WorldSize             int
	TimeoutMS             int64
}

func TCPStore(host string, port uint16, o TCPOptions) (Store, *Failure) {
	if err := Load(); err != nil {
		return nil, err
	}
	cHost := C.CString(host)
	defer free(cHost)
	options := C.tdm_tcp_store_options{
		is_server: boolean(o.IsServer), world_size: C.int32_t(o.WorldSize), wait_workers: boolean(o.WaitWorkers),
		timeout_ms: C.int64_t(o.TimeoutMS), listen_fd: -1,
	}
	options.struct_size = C.size_t(unsafe.Sizeof(options))
	var s *C.tdm_store
	err := failure(C.tdm_store_tcp(cHost, C.uint16_t(port), &options, &s))
	return Store(unsafe.Pointer(s)), err
}

func FileStore(path string, worldSize int) (Store, *Failure) {
	if err := Load(); err != nil {
		return nil, err
	}
	cPath := C.CString(path)
	defer free(cPath)
	var s *C.tdm_store
	err := failure(C.tdm_store_file(cPath, C.int32_t(worldSize), &s))
	return Store(unsafe.Pointer(s)), err
}

func HashStore() (Store, *Failure) {
	if err := Load(); err != nil {
		return nil, err
	}
	var s *C.tdm_store
	err := failure(C.tdm_store_hash(&s))
	return Store(unsafe.Pointer(s)), err
}

func PrefixStore(prefix string, base Store) (Store, *Failure) {
	cPrefix := C.CString(prefix)
	defer free(cPrefix)
	var s *C.tdm_store
	err := failure(C.tdm_store_prefix(cPrefix, store(base), &s))
	return Store(unsafe.Pointer(s)), err
}

func FreeStore(s Store)        { C.tdm_store_free(store(s)) }
func StorePort(s Store) uint16 { return uint16(C.tdm_store_port(store(s))) }

func StoreSet(s Store, key string, value []byte) *Failure {
	cKey := C.CString(key)
	defer free(cKey)
	return failure(C.tdm_store_set(store(s), cKey, unsafe.Pointer(unsafe.SliceData(value)), C.size_t(len(value))))
}

func StoreGet(s Store, key string) ([]byte, *Failure) {
	cKey := C.CString(key)
	defer free(cKey)
	var value *C.tdm_string
	if err := failure(C.tdm_store_get(store(s), cKey, &value)); err != nil {
		return nil, err
	}
	return bytes(value), nil
}

func StoreAdd(s Store, key string, amount int64) (int64, *Failure) {
	cKey := C.CString(key)
	defer free(cKey)
	var sum C.int64_t
	err := failure(C.tdm_store_add(store(s), cKey, C.int64_t(amount), &sum))
	return int64(sum), err
}

func StoreCheck(s Store, keys []string) (bool, *Failure) {
	cKeys, done := cStrings(keys)
	defer done()
	var there C.int32_t
	err := failure(C.tdm_store_check(store(s), cKeys, C.size_t(len(keys)), &there))
	return there != 0, err
}

func StoreDelete(s Store, key string) (bool, *Failure) {
	cKey := C.CString(key)
	defer free(cKey)
	var deleted C.int32_t
	err := failure(C.tdm_store_delete(store(s), cKey, &deleted))
	return deleted != 0, err
}

func StoreWait(s Store, keys []string, timeoutMS int64) *Failure {
	cKeys, done := cStrings(keys)
	defer done()
	return failure(C.tdm_store_wait(store(s), cKeys, C.size_t(len(keys)), C.int64_t(timeoutMS)))
}

func StoreCompareSet(s Store, key, expected, desired string) ([]byte, *Failure) {
	cKey, cExpected, cDesired := C.CString(key), C.CString(expected), C.CString(desired)
	defer free(cKey)
	defer free(cExpected)
	defer free(cDesired)
	var value *C.tdm_string
	if err := failure(C.tdm_store_compare_set(store(s), cKey, unsafe.Pointer(cExpected), C.size_t(len(expected)),
		unsafe.Pointer(cDesired), C.size_t(len(desired)), &value)); err != nil {
		return nil, err
	}
	return bytes(value), nil
}

func StoreSetTimeout(s Store, timeoutMS int64) *Failure {
	return failure(C.tdm_store_set_timeout(store(s), C.int64_t(timeoutMS)))
}

// Package checkpoint keeps what a training needs to go on after a stop: model, optimizer, random numbers, place in the
// data, whatever the program wants, in a folder that gets one folder a save. The files are safetensors and JSON, which
// Python reads as they are.
//
//	folder, err := checkpoint.Open("run", checkpoint.Options{Group: group})
//	if err != nil {
//		return err
//	}
//	defer folder.Close()
//	state := checkpoint.State{Model: net, Optimizer: optimizer, Loader: loader, RNG: true, Values: &progress}
//	loaded, err := folder.Load(ctx, &state) // nil where none was ever saved
//	if err != nil {
//		return err
//	}
//	...
//	return folder.Save(ctx, step, state)
//
// A save writes under a temporary name, syncs, renames, and only then has the file latest name it: whatever ends it early,
// the one before loads. With a group all ranks save and load together, and all of them get an error where one failed.
package checkpoint

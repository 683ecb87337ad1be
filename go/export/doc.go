// Package export has models that Python exported with torch.export: they run, train and are saved without Python.
//
//	# Python
//	program = torch.export.export(model.train(), (images,), dynamic_shapes=({0: torch.export.Dim("batch")},))
//	torch.export.save(program, "model.pt2")
//
//	// Go
//	model, err := export.Load("model.pt2")
//	ddp, err := dist.NewDDP(group, model)
//	loss := functional.CrossEntropy(ddp.Forward(images), labels)
//
// A [Program] is a module as those of package nn are: its parameters and buffers have Python's names, so that optimizers,
// dist.DDP, checkpoints, nn.Save and nn.To work with it. docs/exported-models.md says what an archive may have.
package export

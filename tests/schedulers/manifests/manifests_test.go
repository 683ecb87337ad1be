// Package manifests_test decodes the manifests of docs/kubernetes strictly into the API types.
package manifests_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	kubeflow "github.com/kubeflow/training-operator/pkg/apis/kubeflow.org/v1"
	batch "k8s.io/api/batch/v1"
	core "k8s.io/api/core/v1"
	"sigs.k8s.io/yaml"
)

const folder = "../../../docs/kubernetes"

// documents gives the YAML documents of a file.
func documents(t *testing.T, name string) [][]byte {
	t.Helper()
	content, err := os.ReadFile(filepath.Join(folder, name))
	if err != nil {
		t.Fatal(err)
	}
	return bytes.Split(content, []byte("\n---\n"))
}

// decode refuses fields that T has not, and fields that stand there twice.
func decode[T any](t *testing.T, document []byte) *T {
	t.Helper()
	value := new(T)
	if err := yaml.UnmarshalStrict(document, value); err != nil {
		t.Fatal(err)
	}
	return value
}

func variables(container core.Container) map[string]string {
	all := map[string]string{}
	for _, one := range container.Env {
		all[one.Name] = one.Value
	}
	return all
}

func TestEveryManifestIsTested(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(folder, "*.yaml"))
	if err != nil || len(files) != 3 {
		t.Errorf("%v %v", files, err)
	}
}

func TestStrictDecodingFindsMistakes(t *testing.T) {
	document := strings.Replace(string(documents(t, "pytorchjob.yaml")[0]), "replicas: 1", "replica: 1", 1)
	if err := yaml.UnmarshalStrict([]byte(document), new(kubeflow.PyTorchJob)); err == nil || !strings.Contains(err.Error(), "replica") {
		t.Error(err)
	}
}

func TestPyTorchJobs(t *testing.T) {
	for name, launched := range map[string]bool{"pytorchjob.yaml": false, "pytorchjob-launcher.yaml": true} {
		job := decode[kubeflow.PyTorchJob](t, documents(t, name)[0])
		if job.APIVersion != kubeflow.SchemeGroupVersion.String() || job.Kind != kubeflow.PyTorchJobKind {
			t.Errorf("%s: %s %s", name, job.APIVersion, job.Kind)
		}
		if (job.Spec.NprocPerNode != nil) != launched {
			t.Errorf("%s: processes of a pod: %v", name, job.Spec.NprocPerNode)
		}
		for kind, spec := range job.Spec.PyTorchReplicaSpecs {
			if kind != kubeflow.PyTorchJobReplicaTypeMaster && kind != kubeflow.PyTorchJobReplicaTypeWorker {
				t.Errorf("%s: a replica is a %s", name, kind)
			}
			containers := spec.Template.Spec.Containers
			if len(containers) != 1 || containers[0].Name != kubeflow.PyTorchJobDefaultContainerName {
				t.Fatalf("%s: %v", name, containers)
			}
			if (strings.Join(containers[0].Command[:2], " ") == "tandem run") != launched {
				t.Errorf("%s: %v", name, containers[0].Command)
			}
		}
	}
}

func TestIndexedJob(t *testing.T) {
	all := documents(t, "indexed-job.yaml")
	if len(all) != 2 {
		t.Fatal(len(all))
	}
	service, job := decode[core.Service](t, all[0]), decode[batch.Job](t, all[1])
	if service.APIVersion != core.SchemeGroupVersion.String() || service.Kind != "Service" || service.Spec.ClusterIP != core.ClusterIPNone {
		t.Error(service)
	}
	if job.APIVersion != batch.SchemeGroupVersion.String() || job.Kind != "Job" || *job.Spec.CompletionMode != batch.IndexedCompletion {
		t.Error(job)
	}
	pod := job.Spec.Template.Spec
	env := variables(pod.Containers[0])
	if env["WORLD_SIZE"] != strconv.Itoa(int(*job.Spec.Completions)) || *job.Spec.Parallelism != *job.Spec.Completions {
		t.Errorf("%s of %d", env["WORLD_SIZE"], *job.Spec.Completions)
	}
	if env["MASTER_ADDR"] != job.Name+"-0."+service.Name || pod.Subdomain != service.Name ||
		service.Spec.Selector["job-name"] != job.Name {
		t.Error(env, service.Spec.Selector)
	}
	if env["MASTER_PORT"] != strconv.Itoa(int(pod.Containers[0].Ports[0].ContainerPort)) {
		t.Error(env)
	}
}

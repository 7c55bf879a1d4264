"""Judges what lies in a folder, as a verifier of somebody else, and prints each verdict as JSON.

Called with what judges, `envelopes` or `statements`, and the folder. Its `cases.json` is a list of cases, each with a name
and what to judge; a verdict is "accepted", or the kind of the refusal and what it says.
"""

import json
import pathlib
import sys


def envelope(case, folder):
    from securesystemslib.dsse import Envelope
    from securesystemslib.signer import SSlibKey

    read = Envelope.from_dict(json.loads((folder / case["file"]).read_text()))
    keys = [
        SSlibKey(key["id"], "ecdsa", "ecdsa-sha2-nistp256", {"public": key["pem"]})
        for key in case["keys"]
    ]
    accepted = read.verify(keys, case["threshold"])
    assert len(accepted) >= case["threshold"]


def statement(case, folder):
    from google.protobuf import json_format
    from in_toto_attestation.predicates.link.v0 import link_pb2
    from in_toto_attestation.predicates.provenance.v1 import provenance_pb2
    from in_toto_attestation.predicates.test_result.v0 import test_result_pb2
    from in_toto_attestation.v1 import statement_pb2
    from in_toto_attestation.v1.statement import Statement

    text = json.loads((folder / case["file"]).read_text())
    # This part is what the package's own documentation says that a reader does.
    read = json_format.ParseDict(text, statement_pb2.Statement())
    Statement.copy_from_pb(read).validate()
    predicates = {
        "https://slsa.dev/provenance/v1": provenance_pb2.Provenance,
        "https://in-toto.io/attestation/test-result/v0.1": test_result_pb2.TestResult,
        "https://in-toto.io/attestation/link/v0.3": link_pb2.Link,
    }
    predicate = predicates.get(read.predicate_type)
    if predicate is not None:
        # Members that a minor version added are passed over.
        json_format.ParseDict(text["predicate"], predicate(), ignore_unknown_fields=True)
    # The package's own type of a summary has one level where the format has a list, so it reads no summary at all.
    elif not read.predicate_type.startswith(("urn:ambit:", "https://slsa.dev/verification_summary/v1")):
        raise ValueError(f"Unknown predicate type {read.predicate_type}")


def main():
    judge = {"envelopes": envelope, "statements": statement}[sys.argv[1]]
    folder = pathlib.Path(sys.argv[2])
    verdicts = {}
    for case in json.loads((folder / "cases.json").read_text()):
        try:
            judge(case, folder)
            verdicts[case["name"]] = "accepted"
        except Exception as refusal:
            verdicts[case["name"]] = f"{type(refusal).__name__}: {refusal}"
    print(json.dumps(verdicts))


main()

"""An S3 server for tests: moto, which checks signatures, permissions and `If-None-Match`.

Prints one JSON line with its address and its keys. Then it answers each line of stdin, a JSON object, with one line, and
ends with stdin.
"""

import json
import logging
import os
import sys
import threading

# Dummy credentials for the requests before permissions are checked.
os.environ.update(AWS_ACCESS_KEY_ID="setup", AWS_SECRET_ACCESS_KEY="setup", AWS_DEFAULT_REGION="us-east-1")

import boto3
import moto.settings
from moto.moto_server.threaded_moto_server import ThreadedMotoServer
from moto.s3.responses import S3Response

READ = ["s3:GetObject", "s3:ListBucket", "s3:HeadBucket"]


def user(iam, name, actions):
    iam.create_user(UserName=name)
    policy = {"Version": "2012-10-17", "Statement": [{"Effect": "Allow", "Action": actions, "Resource": "*"}]}
    iam.put_user_policy(UserName=name, PolicyName="objects", PolicyDocument=json.dumps(policy))
    key = iam.create_access_key(UserName=name)["AccessKey"]
    return {"id": key["AccessKeyId"], "secret": key["SecretAccessKey"]}


def keys(s3, bucket):
    return sorted(item["Key"] for item in s3.list_objects_v2(Bucket=bucket).get("Contents", []))


def answer(s3, request):
    bucket, key = request["bucket"], request.get("key")
    match request["do"]:
        case "create":
            s3.create_bucket(Bucket=bucket)
        case "damage":
            contents = bytearray(s3.get_object(Bucket=bucket, Key=key)["Body"].read())
            contents[0] ^= 1
            s3.put_object(Bucket=bucket, Key=key, Body=bytes(contents))
        case "delete":
            for found in keys(s3, bucket):
                s3.delete_object(Bucket=bucket, Key=found)
            s3.delete_bucket(Bucket=bucket)
        case "remove":
            s3.delete_object(Bucket=bucket, Key=key)
        case "keys":
            return keys(s3, bucket)
    return None


def create_at_once():
    """Makes moto compare `If-None-Match` and create the object without another creation in between, as S3 does."""
    lock, put_object = threading.Lock(), S3Response.put_object

    def put_alone(response):
        with lock:
            return put_object(response)

    S3Response.put_object = put_alone


def main():
    create_at_once()
    logging.getLogger("werkzeug").setLevel(logging.ERROR)
    server = ThreadedMotoServer("127.0.0.1", 0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    url = f"http://{host}:{port}"
    iam = boto3.client("iam", endpoint_url=url)
    users = {"writer": user(iam, "writer", ["s3:*"]), "reader": user(iam, "reader", READ)}
    # From here on, requests need a valid signature and a permission.
    moto.settings.INITIAL_NO_AUTH_ACTION_COUNT = 0
    writer = users["writer"]
    s3 = boto3.client(
        "s3", endpoint_url=url, aws_access_key_id=writer["id"], aws_secret_access_key=writer["secret"]
    )
    print(json.dumps({"url": url, **users}), flush=True)
    for line in sys.stdin:
        print(json.dumps(answer(s3, json.loads(line))), flush=True)


main()

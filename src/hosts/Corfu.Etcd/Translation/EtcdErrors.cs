using Grpc.Core;

namespace Corfu.Etcd.Translation;

/// <summary>Errors with the codes and the texts of etcd, which clients compare.</summary>
internal static class EtcdErrors
{
    public static RpcException EmptyKey => New(StatusCode.InvalidArgument, "key is not provided");

    public static RpcException KeyNotFound => New(StatusCode.InvalidArgument, "key not found");

    public static RpcException ValueProvided => New(StatusCode.InvalidArgument, "value is provided");

    public static RpcException LeaseProvided => New(StatusCode.InvalidArgument, "lease is provided");

    public static RpcException TooManyOperations =>
        New(StatusCode.InvalidArgument, "too many operations in txn request");

    public static RpcException DuplicateKey => New(StatusCode.InvalidArgument, "duplicate key given in txn request");

    public static RpcException TooLarge => New(StatusCode.InvalidArgument, "request is too large");

    public static RpcException Compacted =>
        New(StatusCode.OutOfRange, "mvcc: required revision has been compacted");

    public static RpcException FutureRevision =>
        New(StatusCode.OutOfRange, "mvcc: required revision is a future revision");

    public static RpcException NoSpace => New(StatusCode.ResourceExhausted, "mvcc: database space exceeded");

    public static RpcException TooManyRequests => New(StatusCode.ResourceExhausted, "too many requests");

    public static RpcException LeaseNotFound => New(StatusCode.NotFound, "requested lease not found");

    public static RpcException LeaseExists => New(StatusCode.FailedPrecondition, "lease already exists");

    public static RpcException LeaseTooLong => New(StatusCode.OutOfRange, "too large lease TTL");

    public static RpcException PermissionDenied => New(StatusCode.PermissionDenied, "permission denied");

    public static RpcException MemberNotFound => New(StatusCode.NotFound, "member not found");

    public static RpcException AuthNotEnabled =>
        New(StatusCode.FailedPrecondition, "authentication is not enabled");

    public static RpcException RootUserNotExist =>
        New(StatusCode.FailedPrecondition, "root user does not exist");

    /// <summary>Nothing was done: clients try another front end.</summary>
    public static RpcException NoLeader => New(StatusCode.Unavailable, "no leader");

    /// <summary>The front end ends: clients go on at another one.</summary>
    public static RpcException Stopped => New(StatusCode.Unavailable, "server stopped");

    /// <summary>Whether the call took effect is not known, or its answer is lost: clients do not repeat it by
    /// themselves.</summary>
    public static RpcException TimedOut => New(StatusCode.Unavailable, "request timed out");

    public static RpcException DataLost(string message) => new(new Status(StatusCode.DataLoss, message));

    /// <summary>A call that this front end does not have.</summary>
    public static RpcException Unsupported(string instead) => new(new Status(StatusCode.Unimplemented, instead));

    /// <summary>The error of a failed call of the store; null: it is none of the store's.</summary>
    public static RpcException? Of(Exception exception) => exception switch
    {
        StoreCompactedException => Compacted,
        StoreRevisionAheadException => FutureRevision,
        StoreLeaseNotFoundException => LeaseNotFound,
        StoreLeaseExistsException => LeaseExists,
        StoreKeyNotFoundException => KeyNotFound,
        StoreQuotaException => NoSpace,
        StoreTooLargeException => TooLarge,
        StoreContendedException => TooManyRequests,
        StoreInDoubtException or StoreAnswerLostException => TimedOut,
        StoreValueLostException lost => DataLost(lost.Message),
        ObjectDisposedException => NoLeader,
        // The log does not answer, and nothing was written: a doubt has its own type.
        CorfuException or TimeoutException => NoLeader,
        _ => null,
    };

    /// <summary>As <see cref="Of"/>, of a stream. Go's clients end all watches of one that has no leader for good, and
    /// take up those of one that stopped or ran out of time.</summary>
    public static RpcException? OfStream(Exception exception) => exception switch
    {
        ObjectDisposedException => Stopped,
        RpcException rpc when rpc.Status.Detail == NoLeader.Status.Detail => TimedOut,
        RpcException => null,
        _ => Of(exception) is { } error ? OfStream(error) ?? error : null,
    };

    private static RpcException New(StatusCode code, string text) => new(new Status(code, $"etcdserver: {text}"));
}

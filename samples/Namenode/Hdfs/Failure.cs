using Google.Protobuf;
using NamenodeSample.Hdfs.Wire;
using NamenodeSample.Tree;

namespace NamenodeSample.Hdfs;

/// <summary>A failed call, as Hadoop's clients know it: by the class of a Java exception.</summary>
internal sealed record Failure(string Exception, string Message, ErrorCode Code = ErrorCode.Application)
{
    public const string AccessControl = "org.apache.hadoop.security.AccessControlException";
    public const string VersionMismatch = "org.apache.hadoop.ipc.RPC$VersionMismatch";

    /// <summary>Clients go on to the next namenode.</summary>
    public static readonly Failure Standby = new(
        "org.apache.hadoop.ipc.StandbyException", "This namenode stands by, and another is the active");

    public static Failure Unsupported(string what) => new("java.lang.UnsupportedOperationException", what);

    /// <param name="path">Empty: the root.</param>
    public static Failure Of(Refusal refusal, string path) => Named(refusal, path.Length == 0 ? "/" : path);

    private static Failure Named(Refusal refusal, string path) => refusal switch
    {
        Refusal.BadPath => new("org.apache.hadoop.fs.InvalidPathException", $"Invalid path: {path}"),
        Refusal.NotFound => new("java.io.FileNotFoundException", $"File does not exist: {path}"),
        Refusal.NoParent => new("java.io.FileNotFoundException", $"Parent directory does not exist: {path}"),
        Refusal.NotADirectory => new(
            "org.apache.hadoop.fs.ParentNotDirectoryException", $"A file is in the place of a directory: {path}"),
        Refusal.NotAFile => new("java.io.FileNotFoundException", $"Path is not a file: {path}"),
        Refusal.Exists => new("org.apache.hadoop.fs.FileAlreadyExistsException", $"Path exists: {path}"),
        Refusal.NotEmpty => new(
            "org.apache.hadoop.fs.PathIsNotEmptyDirectoryException", $"Directory is not empty: {path}"),
        _ => new("java.io.IOException", $"{refusal}: {path}"),
    };

    public ResponseHeader ToHeader(int call, ByteString client, Status status) => new()
    {
        CallId = (uint)call,
        Status = status,
        ServerVersion = RpcFrame.Version,
        Exception = Exception,
        Message = Message,
        Error = Code,
        ClientId = client,
    };
}

/// <summary>The call has failed, and has changed nothing.</summary>
internal sealed class FailureException(Failure failure) : Exception(failure.Message)
{
    public Failure Failure => failure;
}

/// <summary>The namenode does not know whether the call has changed something.</summary>
internal sealed class UnknownOutcomeException(string call) : Exception($"the outcome of {call} is not known");

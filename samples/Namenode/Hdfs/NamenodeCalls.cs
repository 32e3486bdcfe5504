using System.Globalization;
using Google.Protobuf;
using NamenodeSample.Hdfs.Wire;
using NamenodeSample.Serving;
using NamenodeSample.Tree;

namespace NamenodeSample.Hdfs;

/// <summary>Answers the metadata calls of Hadoop's ClientProtocol from the namespace.</summary>
/// <remarks>Permissions are kept, and not enforced: every client names its user itself. There are no datanodes, so that
/// files stay empty.</remarks>
internal sealed class NamenodeCalls(Func<Active?> findActive, TimeProvider clock)
{
    private const string Protocol = "org.apache.hadoop.hdfs.protocol.ClientProtocol";
    private const string NoBlocks = "This namenode has no datanodes: files stay empty";
    private const int OverwriteFlag = 2;
    private const int AppendFlag = 4;

    /// <summary>Characters of a user, owner or group: an image has them for each path.</summary>
    private const int MaxUserCharacters = 255;

    private static readonly Failure s_longUser = new(
        Failure.AccessControl, $"A user, owner or group has more than {MaxUserCharacters} characters");

    /// <summary>The answer to a call.</summary>
    /// <param name="frame">Stands at the request.</param>
    /// <exception cref="FailureException">The call has failed.</exception>
    /// <exception cref="UnknownOutcomeException">What became of the call is not known.</exception>
    /// <exception cref="RpcException">The request cannot be read.</exception>
    public async Task<IMessage> AnswerAsync(
        CallHeader header, CodedInputStream frame, Caller caller, CancellationToken cancellationToken)
    {
        if (header.Protocol != Protocol)
            throw new FailureException(Failure.Unsupported($"Protocol {header.Protocol} is not served"));
        // The standby refuses every call, because a client probes for the active with any of them.
        Active active = findActive() ?? throw new FailureException(Failure.Standby);
        var call = new Call(active, caller, clock.GetUtcNow().ToUnixTimeMilliseconds(), cancellationToken);
        return header.Method switch
        {
            "getFileInfo" => await GetFileInfoAsync(call, RpcFrame.Parse<PathRequest>(frame)),
            "getListing" => await ListAsync(call, RpcFrame.Parse<ListingRequest>(frame)),
            "getContentSummary" => await SummarizeAsync(call, RpcFrame.Parse<PathRequest>(frame)),
            "getBlockLocations" => await LocateAsync(call, RpcFrame.Parse<PathRequest>(frame)),
            "getFsStats" => await call.ReadAsync(static tree => FileReports.Stats(tree)),
            "getServerDefaults" => await call.ReadAsync(static _ => FileReports.Defaults()),
            "renewLease" => await call.ReadAsync(static _ => new Empty()),
            "mkdirs" => await MakeDirectoryAsync(call, RpcFrame.Parse<MkdirsRequest>(frame)),
            "create" => await CreateAsync(call, RpcFrame.Parse<CreateRequest>(frame)),
            "complete" => await CompleteAsync(call, RpcFrame.Parse<CompleteRequest>(frame)),
            "rename" => await RenameAsync(call, RpcFrame.Parse<RenameRequest>(frame)),
            "rename2" => await Rename2Async(call, RpcFrame.Parse<RenameRequest>(frame)),
            "delete" => await DeleteAsync(call, RpcFrame.Parse<DeleteRequest>(frame)),
            "setPermission" => await SetPermissionAsync(call, RpcFrame.Parse<SetPermissionRequest>(frame)),
            "setOwner" => await SetOwnerAsync(call, RpcFrame.Parse<SetOwnerRequest>(frame)),
            "setTimes" => await SetTimesAsync(call, RpcFrame.Parse<SetTimesRequest>(frame)),
            "addBlock" or "append" or "truncate" => throw new FailureException(Failure.Unsupported(NoBlocks)),
            _ => throw new FailureException(Failure.Unsupported($"{header.Method} is not served")),
        };
    }

    private static Task<StatusResponse> GetFileInfoAsync(Call call, PathRequest request)
    {
        string path = Normalize(request.Path);
        return call.ReadAsync(tree => new StatusResponse { Status = FileReports.Status(tree.Find(path), "") });
    }

    private static Task<ListingResponse> ListAsync(Call call, ListingRequest request)
    {
        string path = Normalize(request.Path);
        return call.ReadAsync(tree => FileReports.List(tree.Find(path), request.StartAfter.ToStringUtf8()));
    }

    private static async Task<SummaryResponse> SummarizeAsync(Call call, PathRequest request)
    {
        string path = Normalize(request.Path);
        // A failure must wait as an answer does, until what was read is durable and the active is known to be elected.
        SummaryResponse? summary = await call.ReadAsync(
            tree => tree.Find(path) is { } node ? FileReports.Summarize(node) : null);
        return summary ?? throw new FailureException(Failure.Of(Refusal.NotFound, path));
    }

    private static async Task<LocationsResponse> LocateAsync(Call call, PathRequest request)
    {
        string path = Normalize(request.Path);
        var (refusal, locations) = await call.ReadAsync(tree => FileReports.Locate(tree.Find(path)));
        return Succeed(refusal, path, locations) ?? throw new FailureException(Failure.Unsupported(NoBlocks));
    }

    private static async Task<ResultResponse> MakeDirectoryAsync(Call call, MkdirsRequest request)
    {
        string path = Normalize(request.Path);
        var refusal = await call.ChangeAsync(
            Verb.Mkdir, path, value: request.MakeParents ? Options.Parents : Options.None,
            attributes: call.New(request.Permission));
        // mkdirs of an existing directory succeeds, as in HDFS.
        if (refusal is Refusal.Exists or Refusal.BadPath
            && await call.ReadAsync(tree => tree.Find(path) is { Children: not null }))
            refusal = null;
        return Succeed(refusal, path, new ResultResponse { Result = true });
    }

    private static async Task<StatusResponse> CreateAsync(Call call, CreateRequest request)
    {
        string path = Normalize(request.Path);
        if ((request.Flags & AppendFlag) != 0) throw new FailureException(Failure.Unsupported(NoBlocks));
        Options options = (request.MakeParents ? Options.Parents : Options.None)
            | ((request.Flags & OverwriteFlag) != 0 ? Options.Overwrite : Options.None);
        Attributes attributes = call.New(request.Permission);
        Outcome outcome = await call.DoAsync(
            new Operation(Verb.Create, path, Value: (long)options, Attributes: attributes));
        if (outcome.Refusal is { } refusal) throw new FailureException(Failure.Of(refusal, path));
        // Not from the tree, where another client may have deleted or replaced the file since.
        var made = new Node(long.Parse(outcome.Text, CultureInfo.InvariantCulture), isDirectory: false);
        made.Set(attributes);
        return new StatusResponse { Status = FileReports.Status(made, "") };
    }

    private static async Task<ResultResponse> CompleteAsync(Call call, CompleteRequest request)
    {
        if (request.HasLast) throw new FailureException(Failure.Unsupported(NoBlocks));
        string path = Normalize(request.Path);
        var refusal = await call.ChangeAsync(Verb.Complete, path);
        return Succeed(
            refusal is Refusal.IsComplete ? null : refusal, path, new ResultResponse { Result = true });
    }

    private static async Task<ResultResponse> RenameAsync(Call call, RenameRequest request)
    {
        var refusal = await call.ChangeAsync(Verb.Rename, Normalize(request.Path), Normalize(request.To));
        return new ResultResponse { Result = refusal is null };
    }

    private static async Task<Empty> Rename2Async(Call call, RenameRequest request)
    {
        var refusal = await call.ChangeAsync(Verb.Rename, Normalize(request.Path), Normalize(request.To),
            request.Overwrite ? Options.Overwrite : Options.None);
        bool isSource = refusal is Refusal.NotFound || request.Path == "/";
        return Succeed(refusal, isSource ? request.Path : request.To, new Empty());
    }

    private static async Task<ResultResponse> DeleteAsync(Call call, DeleteRequest request)
    {
        string path = Normalize(request.Path);
        var refusal = await call.ChangeAsync(
            Verb.Delete, path, value: request.Recursive ? Options.None : Options.OnlyEmpty);
        // The root, which is no valid path of the tree, is not deleted.
        return Succeed(refusal is Refusal.NotFound or Refusal.BadPath ? null : refusal, path,
            new ResultResponse { Result = refusal is null });
    }

    private static async Task<Empty> SetPermissionAsync(Call call, SetPermissionRequest request)
    {
        string path = Normalize(request.Path);
        var attributes = new Attributes(Mode: Mode(request.Permission));
        return Succeed(await call.ChangeAsync(Verb.SetAttributes, path, attributes: attributes), path, new Empty());
    }

    private static async Task<Empty> SetOwnerAsync(Call call, SetOwnerRequest request)
    {
        string path = Normalize(request.Path);
        if (request.Owner.Length > MaxUserCharacters || request.Group.Length > MaxUserCharacters)
            throw new FailureException(s_longUser);
        var attributes = new Attributes(
            request.Owner.Length == 0 ? null : request.Owner, request.Group.Length == 0 ? null : request.Group);
        return Succeed(await call.ChangeAsync(Verb.SetAttributes, path, attributes: attributes), path, new Empty());
    }

    private static async Task<Empty> SetTimesAsync(Call call, SetTimesRequest request)
    {
        string path = Normalize(request.Path);
        var attributes = new Attributes(Modified: Time(request.Modified), Accessed: Time(request.Accessed));
        return Succeed(await call.ChangeAsync(Verb.SetAttributes, path, attributes: attributes), path, new Empty());
    }

    private static T Succeed<T>(Refusal? refusal, string path, T response) =>
        refusal is { } why ? throw new FailureException(Failure.Of(why, path)) : response;

    private static int Mode(Permission permission) => (int)(permission.Bits & 0x3FF);

    private static long? Time(ulong value) => value > long.MaxValue ? null : (long)value;

    /// <summary>The path as the tree has it: empty for the root.</summary>
    private static string Normalize(string path)
    {
        if (path == "/") return "";
        bool isValid = Paths.IsValid(path) && !path.Split('/').Any(static name => name is "." or "..");
        return isValid ? path : throw new FailureException(Failure.Of(Refusal.BadPath, path));
    }

    /// <summary>A call at the active.</summary>
    private sealed record Call(Active Active, Caller Caller, long Now, CancellationToken Stop)
    {
        public Attributes New(Permission permission) => new(Caller.User, "", Mode(permission), Now, Now);

        public async Task<T> ReadAsync<T>(Func<NamespaceTree, T> read)
        {
            try
            {
                return await Active.ReadAsync(read, Stop);
            }
            catch (NotActiveException)
            {
                throw new FailureException(Failure.Standby);
            }
        }

        /// <returns>Null: the change is done.</returns>
        public async Task<Refusal?> ChangeAsync(
            Verb verb, string path, string to = Operation.None, Options value = Options.None,
            Attributes? attributes = null) => (await DoAsync(
                new Operation(verb, path, to, (long)value, attributes ?? new Attributes(Modified: Now)))).Refusal;

        public async Task<Outcome> DoAsync(Operation operation)
        {
            if (Caller.User.Length > MaxUserCharacters) throw new FailureException(s_longUser);
            string? answer = await Active.DoAsync(Caller.Call, 1, operation, Stop);
            return answer?.Split(' ', 3) switch
            {
                null => throw new UnknownOutcomeException($"{operation.Verb} {operation.Path}"),
                [Answers.Done or Answers.Before, _, var result] => new Outcome(true, result),
                [Answers.Refused, _, var refusal] => new Outcome(false, refusal),
                _ => throw new FailureException(Failure.Standby),
            };
        }
    }
}

using System.Collections.Frozen;
using Log = Corfu.Grpc.Protocol.Log.V1;
using V1 = Corfu.Grpc.Protocol.Tango.V1;

namespace Corfu.Grpc;

/// <summary>The rights that each method of the front end needs.</summary>
public static class MethodAccess
{
    private static readonly Demand s_readLog = new(CorfuPolicies.Read, CorfuResource.Log);
    private static readonly Demand s_writeLog = new(CorfuPolicies.Write, CorfuResource.Log);
    private static readonly Demand s_writeAny = new(CorfuPolicies.Write, CorfuResource.AnyStream);
    private static readonly Demand s_trim = new(CorfuPolicies.Trim, null);
    private static readonly Demand s_readCluster = new(CorfuPolicies.ClusterRead, null);
    private static readonly Demand s_changeCluster = new(CorfuPolicies.ClusterChange, null);

    /// <summary>A row for each method of each service, by service.</summary>
    public static ImmutableArray<MethodRow> Rows { get; } =
    [
        .. OfLog(), .. OfObjects(), .. OfSessions(), .. OfAdmin(),
        Open("grpc.health.v1.Health/Check"), Open("grpc.health.v1.Health/Watch"),
        AnyCaller("grpc.reflection.v1.ServerReflection/ServerReflectionInfo"),
        AnyCaller("grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo"),
    ];

    private static FrozenDictionary<string, MethodRow> ByName { get; } =
        Rows.ToFrozenDictionary(static row => row.Method, StringComparer.Ordinal);

    /// <param name="method">As <see cref="MethodRow.Method"/>, with a slash before it or without.</param>
    /// <exception cref="InvalidOperationException">The method has no row: nothing says who may call it.</exception>
    internal static MethodRow Of(string method) =>
        ByName.TryGetValue(method.TrimStart('/'), out var row)
            ? row
            : throw new InvalidOperationException($"{method} has no row in {nameof(MethodAccess)}.");

    /// <summary>The rights for one entry to append.</summary>
    internal static IEnumerable<Demand> OfEntry(Log.NewEntry? entry)
    {
        if (entry is null) return [];
        var streams = LogMessages.StreamsOf(entry.StreamIds, entry.StreamNames);
        return entry.ToObjects || streams.IsEmpty ? [s_writeLog] : OfStreams(CorfuPolicies.Write, streams);
    }

    /// <summary>The right for an object.</summary>
    internal static Demand OfObject(string policy, string name) => new(policy, CorfuResource.Object(name));

    private static IEnumerable<MethodRow> OfLog()
    {
        const string Service = "corfu.log.v1.LogService/";
        yield return Row<Log.AppendRequest>(Service + "Append",
            "write of each stream; without streams, or `to_objects`: write of the log", CorfuPolicies.Write,
            static request => OfEntry(request.Entry));
        yield return new MethodRow(Service + "AppendMany", "each entry as `Append`", CorfuPolicies.Write);
        yield return Row<Log.ResolveRequest>(Service + "Resolve", "write of some stream, or of the log",
            CorfuPolicies.Write, static _ => [s_writeAny]);
        yield return Row<Log.SettleRequest>(Service + "Settle", "write of some stream, or of the log",
            CorfuPolicies.Write, static _ => [s_writeAny]);
        yield return Row<Log.ReadRequest>(
            Service + "Read", "read of the log", CorfuPolicies.Read, static _ => [s_readLog]);
        yield return Row<Log.ReadRangeRequest>(
            Service + "ReadRange", "read of the log", CorfuPolicies.Read, static _ => [s_readLog]);
        yield return Row<Log.SubscribeRequest>(Service + "Subscribe",
            "read of each stream; without streams: read of the log", CorfuPolicies.Read, static request =>
            {
                var streams = LogMessages.StreamsOf(request.StreamIds, request.StreamNames);
                return streams.IsEmpty ? [s_readLog] : OfStreams(CorfuPolicies.Read, streams);
            });
        yield return Row<Log.CheckRequest>(Service + "Check", "read of each stream; without streams: any caller",
            CorfuPolicies.Read, static request => OfStreams(
                CorfuPolicies.Read, LogMessages.StreamsOf(request.StreamIds, request.StreamNames)));
        yield return Row<Log.FillRequest>(
            Service + "Fill", "write of the log", CorfuPolicies.Write, static _ => [s_writeLog]);
        yield return Row<Log.TrimRequest>(
            Service + "Trim", "role admin", CorfuPolicies.Trim, static _ => [s_trim]);
        yield return Row<Log.TrimPrefixRequest>(
            Service + "TrimPrefix", "role admin", CorfuPolicies.Trim, static _ => [s_trim]);
        yield return Row<Log.RetainRequest>(
            Service + "Retain", "role admin", CorfuPolicies.Trim, static _ => [s_trim]);
        yield return AnyCaller(Service + "Describe");
    }

    private static IEnumerable<MethodRow> OfObjects()
    {
        const string Package = "corfu.tango.v1.";
        const string Dictionary = Package + "DictionaryService/";
        const string Leased = Package + "LeasedDictionaryService/";
        const string Queue = Package + "QueueService/";
        const string Lock = Package + "LockService/";
        yield return Writes<V1.CreateRequest>(Package + "ObjectService/Create", static r => r.Object);
        yield return new MethodRow(
            Package + "ObjectService/List", "any caller, who is told the objects that it may read",
            CorfuPolicies.Caller);
        yield return Reads<V1.GetRequest>(Dictionary + "Get", static r => r.Object);
        yield return Reads<V1.GetManyRequest>(Dictionary + "GetMany", static r => r.Object);
        yield return Writes<V1.SetRequest>(Dictionary + "Set", static r => r.Object);
        // A call whose condition fails is told the value.
        yield return Row<V1.SetIfRequest>(Dictionary + "SetIf", "read and write of the object", CorfuPolicies.Write,
            static r => [OfObject(CorfuPolicies.Read, r.Object), OfObject(CorfuPolicies.Write, r.Object)]);
        yield return Writes<V1.RemoveRequest>(Dictionary + "Remove", static r => r.Object);
        yield return Reads<V1.ListRequest>(Dictionary + "List", static r => r.Object);
        yield return Reads<V1.CountRequest>(Dictionary + "Count", static r => r.Object);
        yield return Reads<V1.WatchRequest>(Dictionary + "Watch", static r => r.Object);
        yield return Reads<V1.GetLeasedRequest>(Leased + "Get", static r => r.Object);
        yield return Writes<V1.SetLeasedRequest>(Leased + "Set", static r => r.Object);
        yield return Writes<V1.RemoveLeasedRequest>(Leased + "Remove", static r => r.Object);
        yield return Reads<V1.ListLeasedRequest>(Leased + "List", static r => r.Object);
        yield return Writes<V1.EnqueueRequest>(Queue + "Enqueue", static r => r.Object);
        yield return Writes<V1.ReceiveRequest>(Queue + "Receive", static r => r.Object);
        yield return Writes<V1.CompleteRequest>(Queue + "Complete", static r => r.Object);
        yield return Writes<V1.AbandonRequest>(Queue + "Abandon", static r => r.Object);
        yield return Reads<V1.CountItemsRequest>(Queue + "Count", static r => r.Object);
        yield return Writes<V1.AcquireRequest>(Lock + "Acquire", static r => r.Object);
        yield return Writes<V1.ReleaseRequest>(Lock + "Release", static r => r.Object);
        yield return Reads<V1.GetHolderRequest>(Lock + "GetHolder", static r => r.Object);
    }

    private static IEnumerable<MethodRow> OfSessions()
    {
        const string Transactions = "corfu.tango.v1.TransactionService/";
        yield return new MethodRow(
            "corfu.tango.v1.SessionService/Keep", "any caller; write of each object of `held`", CorfuPolicies.Caller);
        yield return Row<V1.TransactRequest>(Transactions + "Transact",
            "read of each object that is compared or read, write of each that is changed", CorfuPolicies.Write,
            OfTransaction);
        yield return new MethodRow(
            Transactions + "Resolve", "any caller, for its own requests", CorfuPolicies.Caller);
    }

    private static IEnumerable<MethodRow> OfAdmin()
    {
        const string Service = "corfu.admin.v1.AdminService/";
        yield return new MethodRow(
            Service + "Status", "`\"cluster\": \"read\"`", CorfuPolicies.ClusterRead, static _ => [s_readCluster]);
        yield return new MethodRow(
            Service + "History", "`\"cluster\": \"read\"`", CorfuPolicies.ClusterRead, static _ => [s_readCluster]);
        yield return new MethodRow(
            Service + "Reconfigure", "role admin", CorfuPolicies.ClusterChange, static _ => [s_changeCluster]);
    }

    private static IEnumerable<Demand> OfTransaction(V1.TransactRequest request)
    {
        foreach (var compare in request.Compare) yield return OfObject(CorfuPolicies.Read, compare.Object);
        // Which of the two lists is done is known too late.
        foreach (var operation in request.OnSuccess.Concat(request.OnFailure))
        {
            var reads = operation.OperationCase == V1.Operation.OperationOneofCase.Get;
            yield return OfObject(reads ? CorfuPolicies.Read : CorfuPolicies.Write, operation.Object);
        }
    }

    private static IEnumerable<Demand> OfStreams(string policy, ImmutableArray<StreamId> streams) =>
        streams.Select(stream => new Demand(policy, CorfuResource.Stream(stream)));

    private static MethodRow Open(string method) => new(method, "nothing", null);

    private static MethodRow AnyCaller(string method) => new(method, "any caller", CorfuPolicies.Caller);

    private static MethodRow Reads<T>(string method, Func<T, string> name) =>
        Row<T>(method, "read of the object", CorfuPolicies.Read,
            request => [OfObject(CorfuPolicies.Read, name(request))]);

    private static MethodRow Writes<T>(string method, Func<T, string> name) =>
        Row<T>(method, "write of the object", CorfuPolicies.Write,
            request => [OfObject(CorfuPolicies.Write, name(request))]);

    private static MethodRow Row<T>(
        string method, string needs, string policy, Func<T, IEnumerable<Demand>> demands) =>
        new(method, needs, policy, request => demands((T)request));
}

/// <summary>The rights that one method needs.</summary>
public sealed class MethodRow
{
    private static readonly Func<object, IEnumerable<Demand>> s_none = static _ => [];

    internal MethodRow(
        string method, string needs, string? policy, Func<object, IEnumerable<Demand>>? demands = null) =>
        (Method, Needs, Policy, Demands) = (method, needs, policy, demands ?? s_none);

    /// <summary>As <c>corfu.log.v1.LogService/Append</c>.</summary>
    public string Method { get; }

    /// <summary>For people.</summary>
    public string Needs { get; }

    /// <summary>The strongest of <see cref="CorfuPolicies"/> that a call may need; null: callers need no
    /// certificate.</summary>
    public string? Policy { get; }

    /// <summary>The rights for one request, beside <see cref="CorfuPolicies.Caller"/>. Streams of requests are checked
    /// by their services.</summary>
    internal Func<object, IEnumerable<Demand>> Demands { get; }
}

/// <summary>A right that a call needs.</summary>
internal readonly record struct Demand(string Policy, CorfuResource? Resource);

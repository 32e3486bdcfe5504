using System.Text.Json.Serialization;

namespace Corfu.Load;

/// <summary>Order to a generator process for one round; one line of JSON on its standard input.</summary>
/// <param name="Target">For echo and tokens <c>endpoint/identity/cluster</c> of the bare role, for gRPC the
/// server's address, otherwise a connection string.</param>
/// <param name="Callers">Operations at once from this process.</param>
/// <param name="Size">Payload bytes of one operation, all its entries or values together.</param>
internal sealed record WorkerOrder(WorkloadKind Kind, string Target, int Callers, int Size, double Seconds)
{
    public WorkloadSetting Setting { get; init; } = WorkloadSetting.Default;

    /// <summary>Operations a second of this process; null: as many as its callers can.</summary>
    public double? PerSecond { get; init; }
}

/// <summary>Answer of the process, one line too.</summary>
/// <param name="Histogram">Nanoseconds, see <see cref="Latencies.Encode"/>.</param>
/// <param name="Aborted">Transactions among them that took no effect.</param>
internal sealed record WorkerReport(string Histogram, double Seconds, long Failures, long Aborted = 0,
    string? Error = null);

/// <summary>Kinds of operations.</summary>
internal enum WorkloadKind
{
    /// <summary>A request of the payload's size, answered at once: the transport alone.</summary>
    Echo,

    /// <summary>A token of a bare sequencer.</summary>
    Token,

    /// <summary>A token of one stream of a bare sequencer.</summary>
    StreamToken,

    /// <summary>The same for an entry on which the sequencer rules.</summary>
    DecidedToken,

    /// <summary>A durable append through the client.</summary>
    Append,

    /// <summary>A linearizable check of the tail.</summary>
    Check,

    /// <summary>A Tango transaction that moves an amount between two of many keys.</summary>
    Transaction,

    /// <summary>A read of one entry at a random position.</summary>
    Read,

    /// <summary>A durable append to several streams at once.</summary>
    MultiAppend,

    /// <summary>A linearizable read of a Tango register.</summary>
    ObjectRead,

    /// <summary>A durable write to a Tango register.</summary>
    ObjectUpdate,

    /// <summary>A durable write of a key of a Tango dictionary, each caller's its own.</summary>
    DictionarySet,

    /// <summary>A Tango transaction that reads three keys and writes three others, tried once.</summary>
    KeyTransaction,

    /// <summary>A message to a gRPC server that returns it: gRPC alone.</summary>
    GrpcEcho,

    /// <summary>A message with durable appends through a gRPC front end.</summary>
    GrpcAppend,

    /// <summary>A strong read of an object of a chain.</summary>
    CraqGet,

    /// <summary>A write of an object of a chain.</summary>
    CraqPut,

    /// <summary>An addition to a number in a chain.</summary>
    CraqAdd,

    /// <summary>A read of an object's version, and a write of the object if it still has that version.</summary>
    CraqCompareAndSet,

    /// <summary>A single step compares an object and writes two, of one chain.</summary>
    CraqMutate,

    /// <summary>A transaction that does so in several chains.</summary>
    CraqTransact,

    /// <summary>A read over memcached's text protocol, or redis'.</summary>
    TextGet,

    /// <summary>A write over memcached's text protocol, or redis'.</summary>
    TextSet,

    /// <summary>An append to a ledger.</summary>
    LedgerAppend,

    /// <summary>A put of a key of a store, or of several at one revision.</summary>
    StorePut,

    /// <summary>A linearizable read of keys of a store, all of one revision.</summary>
    StoreGet,

    /// <summary>A put by a client of etcd.</summary>
    EtcdPut,

    /// <summary>A linearizable read of a key by a client of etcd.</summary>
    EtcdRange,

    /// <summary>A serializable one.</summary>
    EtcdLocalRange,

    /// <summary>A command of a replicated machine, until its result is here.</summary>
    MachineCommand,
}

[JsonSourceGenerationOptions(UseStringEnumConverter = true)]
[JsonSerializable(typeof(WorkerOrder))]
[JsonSerializable(typeof(WorkerReport))]
[JsonSerializable(typeof(RunReport))]
[JsonSerializable(typeof(GrpcReport))]
internal sealed partial class LoadJson : JsonSerializerContext;

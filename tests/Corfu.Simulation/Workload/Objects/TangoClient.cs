using Corfu.Simulation.Cluster;
using Corfu.Simulation.Kernel;
using Microsoft.Extensions.Logging;
using Tango;
using Tango.Collections;
using Tango.Runtime;
using Tango.Tests;

namespace Corfu.Simulation.Workload.Objects;

/// <summary>
/// The objects of one Tango client: a group of two dictionaries, two registers and a gate, opened together, and two
/// registers of their own, of which a client may host one and write the other unseen (Tango 4.1, A): transactions that
/// read one and write the other need decision records.
/// </summary>
public sealed class TangoClient
{
    public const string Cells = "cells";
    public const string Bank = "bank";
    public const string GateKey = "gate";
    public const string AnnexName = "annex";

    /// <summary>The registers that stand alone.</summary>
    public static readonly string[] SoloKeys = ["s0", "s1"];

    private const string Group = "simulation";

    private static readonly string[] s_sharedKeys =
        ["cells/k0", "cells/k1", "cells/k2", "cells/k3", "cells/k4", "r0", "r1"];

    private TangoClient(SimClientNode node, TangoRuntime runtime, bool isOld)
    {
        (Number, Time) = (node.Number, node.Process!.Time);
        (Runtime, IsOld) = (runtime, isOld);
    }

    public int Number { get; }

    /// <summary>Runs older code.</summary>
    public bool IsOld { get; }

    public TimeProvider Time { get; }

    public TangoRuntime Runtime { get; }

    public TangoDictionary<string, string> CellsObject { get; private set; } = null!;

    public TangoDictionary<string, string> BankObject { get; private set; } = null!;

    public TangoRegister<string>[] Registers { get; private set; } = [];

    public Gate Gate { get; private set; } = null!;

    /// <summary>The lone registers that this client can read.</summary>
    public string[] HostedSolos { get; private set; } = [];

    /// <summary>The lone registers that it hosts while it reads them.</summary>
    public string[] RemoteSolos { get; private set; } = [];

    /// <summary>The lone registers that it can write.</summary>
    public string[] WritableSolos { get; private set; } = SoloKeys;

    /// <summary>Older code met a record that it cannot read in a stream of the group (R23).</summary>
    public bool HasLostGroup { get; private set; }

    /// <summary>The key of the member that the group gets later, once it is open here. A removed one is another key
    /// than the next one of its name.</summary>
    public string? AnnexKey { get; private set; }

    /// <summary>Registers that any client may delete, by name.</summary>
    public Dictionary<string, TangoRegister<string>> Temporary { get; } = new(StringComparer.Ordinal);

    /// <summary>A dictionary whose values stay in the log, once it is open here.</summary>
    public TangoLogDictionary<string, string>? Index { get; set; }

    // By key, those that were open here: calls of removed ones may be under way.
    private readonly Dictionary<string, Annex> _annexes = new(StringComparer.Ordinal);

    /// <summary>Keys of the group that all clients can read and write.</summary>
    public static IReadOnlyList<string> SharedKeys => s_sharedKeys;

    public string[] ReadableKeys => [.. GroupKeys, .. HostedSolos, .. RemoteSolos];

    public string[] WritableKeys => [.. GroupKeys, .. WritableSolos];

    private string[] GroupKeys => AnnexKey is { } annex ? [.. s_sharedKeys, annex] : s_sharedKeys;

    private TangoRegister<string>[] Solo { get; } = new TangoRegister<string>[SoloKeys.Length];

    /// <param name="hosted">Which of the lone registers to host; -1: all of them.</param>
    /// <param name="readsRemote">Whether the others are read; else they are only written.</param>
    public static async Task<TangoClient> OpenAsync(
        SimClientNode node, ICorfuLog log, int hosted, bool readsRemote, bool isOld, TangoOptions options,
        ILogger logger)
    {
        Func<IStreamCursor> openCursor =
            isOld ? () => new OldCodeCursor(node.OpenCursor(), WrittenValue.IsNewer) : node.OpenCursor;
        var runtime = new TangoRuntime(
            log, openCursor, node.Process!.Time, node.Entropy, options, logger, LoopsHere());
        var client = new TangoClient(node, runtime, isOld);
        for (int i = 0; i < SoloKeys.Length; i++)
        {
            bool hosts = hosted < 0 || hosted == i;
            client.Solo[i] = hosts
                ? await client.Runtime.OpenAsync<TangoRegister<string>>(SoloKeys[i], OpenMode.Create)
                : readsRemote
                    ? await client.Runtime.OpenRemoteAsync<TangoRegister<string>>(SoloKeys[i], OpenMode.Create)
                    : await client.Runtime.OpenWriteOnlyAsync<TangoRegister<string>>(SoloKeys[i], OpenMode.Create);
            if (readsRemote && !hosts) client.RemoteSolos = [.. client.RemoteSolos, SoloKeys[i]];
            if (hosts) client.HostedSolos = [.. client.HostedSolos, SoloKeys[i]];
        }

        await client.Runtime.OpenGroupAsync(Group, group =>
        {
            client.CellsObject = group.Add<TangoDictionary<string, string>>(Cells);
            client.BankObject = group.Add<TangoDictionary<string, string>>(Bank);
            client.Registers = [group.Add<TangoRegister<string>>("r0"), group.Add<TangoRegister<string>>("r1")];
            client.Gate = group.Add<Gate>(GateKey);
        });
        return client;
    }

    /// <summary>Loops of the process that runs the caller.</summary>
    internal static LoopContext LoopsHere() =>
        ((SimSynchronizationContext)SynchronizationContext.Current!).Process.Loops;

    /// <summary>As a program that names the group's first objects only in part, in another order, and one
    /// more.</summary>
    public async Task OpenAnnexAsync()
    {
        Annex annex = null!;
        await Runtime.OpenGroupAsync(Group, group =>
        {
            annex = group.Add<Annex>(AnnexName);
            group.Add<TangoDictionary<string, string>>(Bank);
        });
        AnnexKey = TxHistory.KeyOfTemporary(((ObjectHost)annex.Host).Entry.Id.Value);
        _annexes[AnnexKey] = annex;
    }

    public Annex? FindAnnex(string key) => _annexes.GetValueOrDefault(key);

    /// <summary>The member was removed from the group.</summary>
    public void LoseAnnex(string key)
    {
        if (AnnexKey == key) AnnexKey = null;
    }

    public TangoObject SoloOf(string name) => Solo[name[1] - '0'];

    /// <summary>An object has stopped, and with it its group.</summary>
    public void Drop(string name)
    {
        if (!SoloKeys.Contains(name)) HasLostGroup = true;
        HostedSolos = [.. HostedSolos.Where(key => key != name)];
        RemoteSolos = [.. RemoteSolos.Where(key => key != name)];
        WritableSolos = [.. WritableSolos.Where(key => key != name)];
    }

    /// <summary>Keys look like "cells/k3", "bank/a1" and "r0".</summary>
    public async ValueTask<string?> ReadAsync(string key)
    {
        if (key == GateKey) return await Gate.LastAsync();
        if (FindAnnex(key) is { } annex) return await annex.ReadAsync();
        int slash = key.IndexOf('/', StringComparison.Ordinal);
        if (slash < 0) return await Register(key).ReadAsync();
        Lookup<string> found = await Dictionary(key).TryGetAsync(key[(slash + 1)..]);
        return found.Found ? found.Value : null;
    }

    /// <summary>R17: other transactions get between two reads, and must not show.</summary>
    /// <param name="random">Null: without pauses.</param>
    public async Task<string?> ReadPatientlyAsync(string key, SimRandom? random)
    {
        if (random?.Chance(0.3) ?? false) await Task.Yield();
        if (random?.Chance(0.1) ?? false) await Task.Delay(TimeSpan.FromMilliseconds(random.Between(1, 5)), Time);
        return await ReadAsync(key);
    }

    public ValueTask WriteAsync(string key, string value)
    {
        if (FindAnnex(key) is { } annex) return annex.WriteAsync(value);
        int slash = key.IndexOf('/', StringComparison.Ordinal);
        return slash < 0 ? Register(key).WriteAsync(value) : Dictionary(key).SetAsync(key[(slash + 1)..], value);
    }

    private TangoRegister<string> Register(string key) => (key[0] == 'r' ? Registers : Solo)[key[1] - '0'];

    private TangoDictionary<string, string> Dictionary(string key) =>
        key.StartsWith(Cells, StringComparison.Ordinal) ? CellsObject : BankObject;
}

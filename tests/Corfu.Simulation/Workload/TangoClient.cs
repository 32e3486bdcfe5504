using Corfu.Protocol;
using Corfu.Client;
using Tango;
using Tango.Collections;

namespace Corfu.Simulation.Workload;

/// <summary>The objects of one Tango client: a group of two dictionaries and two registers, opened together.</summary>
public sealed class TangoClient
{
    public const string Cells = "cells";
    public const string Bank = "bank";

    private TangoClient(TangoRuntime runtime) => Runtime = runtime;

    public TangoRuntime Runtime { get; }

    public TangoDictionary<string, string> CellsObject { get; private set; } = null!;

    public TangoDictionary<string, string> BankObject { get; private set; } = null!;

    public TangoRegister<string>[] Registers { get; private set; } = [];

    public static async Task<TangoClient> OpenAsync(ICorfuLog log, Func<IStreamCursor> openCursor, TimeProvider time, IEntropy entropy, TangoOptions options)
    {
        var client = new TangoClient(new TangoRuntime(log, openCursor, time, entropy, options));
        await client.Runtime.OpenGroupAsync("simulation", group =>
        {
            client.CellsObject = group.Add<TangoDictionary<string, string>>(Cells);
            client.BankObject = group.Add<TangoDictionary<string, string>>(Bank);
            client.Registers = [group.Add<TangoRegister<string>>("r0"), group.Add<TangoRegister<string>>("r1")];
        });
        return client;
    }

    /// <summary>Keys look like "cells/k3", "bank/a1" and "r0".</summary>
    public async ValueTask<string?> ReadAsync(string key)
    {
        int slash = key.IndexOf('/', StringComparison.Ordinal);
        if (slash < 0) return await Registers[key[1] - '0'].ReadAsync();
        Lookup<string> found = await Dictionary(key).TryGetAsync(key[(slash + 1)..]);
        return found.Found ? found.Value : null;
    }

    public ValueTask WriteAsync(string key, string value)
    {
        int slash = key.IndexOf('/', StringComparison.Ordinal);
        return slash < 0 ? Registers[key[1] - '0'].WriteAsync(value) : Dictionary(key).SetAsync(key[(slash + 1)..], value);
    }

    private TangoDictionary<string, string> Dictionary(string key) => key.StartsWith(Cells, StringComparison.Ordinal) ? CellsObject : BankObject;
}

using System.Globalization;
using Corfu.Simulation.Cluster;
using Corfu.Simulation.Kernel;
using Tango;
using Tango.Collections;
using Tango.Model;
using Tango.Playback;
using Tango.Runtime;

namespace Corfu.Simulation.Workload.Objects;

/// <summary>
/// A dictionary whose values stay in the log. Each key has one writer at a time, whose values grow: the value that was
/// acknowledged before a read began is the least that it finds, while the log is compacted, checkpointed and trimmed.
/// </summary>
internal sealed class IndexWorkload(ClusterMonitor monitor, OpenClients clients) : ITangoWorkload
{
    private const string Name = "index";
    private const int Keys = 6;
    private const int MostWrittenAgain = 60;

    private readonly SortedDictionary<string, IndexedKey> _indexed = new(StringComparer.Ordinal);
    private int _doubtful;
    private long _lastValue;

    public IEnumerable<Detour> Detours => [new(0.12, static client => !client.IsOld, UseAsync)];

    public async Task CheckAsync(TangoClient client)
    {
        if (client.IsOld) return;
        TangoLogDictionary<string, string> index = await OpenAsync(client);
        foreach (string key in _indexed.Keys) await ReadAsync(client, index, key);
    }

    /// <summary>Compacts the index, so that no old value is held.</summary>
    public async Task CompactAllAsync(TangoClient client)
    {
        TangoLogDictionary<string, string> index = await OpenAsync(client);
        await client.Runtime.SyncAsync();
        await index.CompactAsync(client.Runtime.Log.PlayedTo);
        await client.Runtime.Checkpoints.WriteAsync(index);
    }

    /// <summary>R22: what a view holds that is not older than the newest checkpoint is not trimmed. A view that lags
    /// behind may hold what was replaced since.</summary>
    /// <returns>Values below the position that must not be trimmed.</returns>
    public IEnumerable<string> NeededBelow(long position, TangoClient trimming)
    {
        TrimClaims claims = trimming.Runtime.Services.Playback.Directory.Published.Claims;
        foreach (TangoClient client in clients.All)
        {
            if (client.Index is not { } index) continue;
            var host = (ObjectHost)index.Host;
            PublishedViews published = client.Runtime.Services.Playback.Player.Published;
            FrozenView view = published.Of(host.Hosted!);
            if (!claims.Cohorts.TryGetValue(host.Entry.Id, out CohortClaim claim) || view.Stopped is not null) continue;
            if (published.End < (claim.Checkpoint ?? LogPosition.Zero)) continue;
            if ((view.View as ITangoIndex)?.LowestPlace is not { } lowest) continue;
            monitor.Mark("log trimmed below values");
            if (lowest.Position.Offset < position)
                yield return $"client {client.Number} has a value at {lowest} as of {published.End}";
        }
    }

    private async Task UseAsync(TangoClient client, SimRandom random)
    {
        try
        {
            TangoLogDictionary<string, string> index = await OpenAsync(client);
            string key = $"{_doubtful}.{random.Next(Keys)}";
            double dice = random.NextDouble();
            if (dice < 0.4) await SetAsync(index, key);
            else if (dice < 0.9) await ReadAsync(client, index, key);
            else await CompactAsync(client, index, random);
        }
        catch (Exception e) when (e is TangoInDoubtException || LogRefusal.Is(e))
        {
            monitor.Mark("operation given up");
        }
    }

    private static async Task<TangoLogDictionary<string, string>> OpenAsync(TangoClient client) =>
        client.Index ??= await client.Runtime.OpenAsync<TangoLogDictionary<string, string>>(Name, OpenMode.Create);

    private async Task SetAsync(TangoLogDictionary<string, string> index, string key)
    {
        if (!_indexed.TryGetValue(key, out IndexedKey? known)) _indexed[key] = known = new IndexedKey();
        if (known.HasWriter) return;
        known.HasWriter = true;
        long value = ++_lastValue;
        bool isDone = false;
        try
        {
            await index.SetAsync(key, $"{key}:{value}");
            (known.Least, isDone) = (value, true);
        }
        finally
        {
            known.HasWriter = false;
            // The write may come after the next one: other keys are written from here on.
            if (!isDone) _doubtful++;
        }
    }

    private async Task ReadAsync(TangoClient client, TangoLogDictionary<string, string> index, string key)
    {
        long least = _indexed.TryGetValue(key, out IndexedKey? known) ? known.Least : 0;
        Lookup<string> found = await index.TryGetAsync(key);
        string shown = found.Found ? found.Value! : "nothing";
        string[] parts = shown.Split(':');
        bool isRight = found.Found
            ? parts[0] == key && long.Parse(parts[1], CultureInfo.InvariantCulture) >= least
            : least == 0;
        if (!isRight)
            monitor.Found(
                CheckerNames.Index, $"client {client.Number} finds {shown} under {key}, which had value {least}");
    }

    private async Task CompactAsync(TangoClient client, TangoLogDictionary<string, string> index, SimRandom random)
    {
        long below = Math.Max(0, client.Runtime.Log.PlayedTo.Offset - random.Next(MostWrittenAgain));
        if (await index.CompactAsync(new LogPosition(below)) > 0) monitor.Mark("values written again");
    }

    private sealed class IndexedKey
    {
        /// <summary>The last value that was acknowledged.</summary>
        public long Least { get; set; }

        public bool HasWriter { get; set; }
    }
}

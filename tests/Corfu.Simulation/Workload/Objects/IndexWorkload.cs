using System.Globalization;
using Corfu.Simulation.Kernel;
using Tango;
using Tango.Collections;
using Tango.Model;
using Tango.Playback;
using Tango.Runtime;

namespace Corfu.Simulation.Workload;

// A dictionary whose values stay in the log. Each key has one writer at a time, whose values grow: what was
// acknowledged before a read began is the least that it finds, whatever is compacted, checkpointed and trimmed
// meanwhile.
public sealed partial class TangoWorkload
{
    private const string IndexName = "index";
    private const double ShareOfIndexed = 0.12;
    private const int IndexKeys = 6;
    private const int MostWrittenAgain = 60;

    private readonly SortedDictionary<string, IndexedKey> _indexed = new(StringComparer.Ordinal);
    private int _doubtful;
    private long _lastValue;

    private async Task UseIndexAsync(int client, TangoClient tango, SimRandom random)
    {
        try
        {
            TangoLogDictionary<string, string> index = await OpenIndexAsync(tango);
            string key = $"{_doubtful}.{random.Next(IndexKeys)}";
            double dice = random.NextDouble();
            if (dice < 0.4) await SetIndexedAsync(index, key);
            else if (dice < 0.9) await ReadIndexedAsync(client, index, key);
            else await CompactAsync(tango, index, random);
        }
        catch (Exception e) when (e is TangoInDoubtException || IsLogsRefusal(e))
        {
            monitor.Mark("operation given up");
        }
    }

    private static async Task<TangoLogDictionary<string, string>> OpenIndexAsync(TangoClient tango) =>
        tango.Index ??= await tango.Runtime.OpenAsync<TangoLogDictionary<string, string>>(IndexName, OpenMode.Create);

    private async Task SetIndexedAsync(TangoLogDictionary<string, string> index, string key)
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

    private async Task ReadIndexedAsync(int client, TangoLogDictionary<string, string> index, string key)
    {
        long least = _indexed.TryGetValue(key, out IndexedKey? known) ? known.Least : 0;
        Lookup<string> found = await index.TryGetAsync(key);
        string shown = found.Found ? found.Value! : "nothing";
        string[] parts = shown.Split(':');
        bool isRight = found.Found
            ? parts[0] == key && long.Parse(parts[1], CultureInfo.InvariantCulture) >= least
            : least == 0;
        if (!isRight)
            monitor.Found(CheckerNames.Index, $"client {client} finds {shown} under {key}, which had value {least}");
    }

    private async Task CompactAsync(TangoClient tango, TangoLogDictionary<string, string> index, SimRandom random)
    {
        long below = Math.Max(0, tango.Runtime.Log.PlayedTo.Offset - random.Next(MostWrittenAgain));
        if (await index.CompactAsync(new LogPosition(below)) > 0) monitor.Mark("values written again");
    }

    private async Task ReadIndexAsync(int client, TangoClient tango)
    {
        TangoLogDictionary<string, string> index = await OpenIndexAsync(tango);
        foreach (string key in _indexed.Keys) await ReadIndexedAsync(client, index, key);
    }

    /// <summary>Compacts the index, so that no old value is held.</summary>
    private static async Task CompactAllAsync(TangoClient tango)
    {
        TangoLogDictionary<string, string> index = await OpenIndexAsync(tango);
        await tango.Runtime.SyncAsync();
        await index.CompactAsync(tango.Runtime.Log.PlayedTo);
        await tango.Runtime.Checkpoints.WriteAsync(index);
    }

    /// <summary>R22: what a view holds that is not older than the newest checkpoint is not trimmed. A view that lags
    /// behind may hold what was replaced since.</summary>
    private void CheckValues(int client, long below)
    {
        if (!_open.TryGetValue(client, out TangoClient? trims)) return;
        TrimClaims claims = trims.Runtime.Services.Playback.Directory.Published.Claims;
        foreach ((int other, TangoClient tango) in _open)
        {
            if (tango.Index is not { } index) continue;
            var host = (ObjectHost)index.Host;
            PublishedViews published = tango.Runtime.Services.Playback.Player.Published;
            FrozenView view = published.Of(host.Hosted!);
            if (!claims.Cohorts.TryGetValue(host.Entry.Id, out CohortClaim claim) || view.Stopped is not null) continue;
            if (published.End < (claim.Checkpoint ?? LogPosition.Zero)) continue;
            if ((view.View as ITangoIndex)?.LowestPlace is not { } lowest) continue;
            monitor.Mark("log trimmed below values");
            if (lowest.Position.Offset < below)
                _trimPoint.Needed(client, below, $"client {other} has a value at {lowest} as of {published.End}");
        }
    }

    private sealed class IndexedKey
    {
        /// <summary>The last value that was acknowledged.</summary>
        public long Least { get; set; }

        public bool HasWriter { get; set; }
    }
}

using System.Diagnostics;
using Corfu.Client;
using Corfu.Protocol;
using Corfu.Transport;

namespace Corfu.Load;

/// <summary>
/// Leaves holes behind appends and has them read at once, by a client that appends itself. In flight are appends beside it.
/// </summary>
internal static class HoleTimes
{
    public static async Task RunAsync(string cluster, RunParameters p, int rounds)
    {
        await using var client = await CorfuClient.ConnectAsync(cluster);
        await using var appender = await CorfuClient.ConnectAsync(cluster);
        using var transport = new TcpTransport(new TcpTransportOptions { Cluster = client.Projection.Cluster });
        using var stop = new CancellationTokenSource();
        var payload = new byte[p.Size];
        var load = Enumerable.Range(1, p.InFlight - 1).Select(_ => AppendAsync(appender, payload, stop.Token)).ToList();
        for (var i = 0; i < 500; i++) await client.AppendAsync(payload, []);
        for (var round = 0; round <= rounds; round++)
        {
            // The first one is for code that has never run.
            await MeasureAsync("abandoned", client, transport, p, head: false, print: round > 0);
            await MeasureAsync("written at the head", client, transport, p, head: true, print: round > 0);
        }

        await stop.CancelAsync();
        await Task.WhenAll(load);
    }

    private static async Task MeasureAsync(string name, CorfuClient client, TcpTransport transport, RunParameters p, bool head, bool print)
    {
        var histogram = new LatencyHistogram();
        var appends = new LatencyHistogram();
        var began = Stopwatch.GetTimestamp();
        while (Stopwatch.GetElapsedTime(began).TotalSeconds < p.Seconds)
        {
            var appended = Stopwatch.GetTimestamp();
            (await client.AppendAsync(new byte[p.Size], [])).Require();
            appends.Record((long)Stopwatch.GetElapsedTime(appended).TotalNanoseconds);
            var hole = await LeaveAsync(client.Projection, transport, p.Size, head);
            var met = Stopwatch.GetTimestamp();
            var read = await client.ReadManyAsync([hole]);
            histogram.Record((long)Stopwatch.GetElapsedTime(met).TotalNanoseconds);
            if (read[0].State != (head ? PageState.Data : PageState.Junk)) throw new CorfuException($"{hole} is {read[0].State}.");
        }

        if (!print) return;
        ClientCommands.Print("an append between them", appends, Stopwatch.GetElapsedTime(began).TotalSeconds);
        ClientCommands.Print($"hole, {name}", histogram, Stopwatch.GetElapsedTime(began).TotalSeconds);
    }

    private static async Task<LogPosition> LeaveAsync(Projection projection, TcpTransport transport, int size, bool head)
    {
        var token = await transport.CallAsync(projection.Sequencer, new TokenRequest(projection.Epoch, 1, []), default);
        if (!token.IsOk) throw CorfuException.FromStatus(token.Status, "A token");
        if (!head || !projection.TryChainOf(token.First, out var chain)) return token.First;
        var at = new LogPosition(token.First.Offset, projection.Epoch);
        var entry = new LogEntry(at, new EntryOrigin(new WriterId(Guid.NewGuid()), 1), EntryKind.Data, DateTimeOffset.UtcNow, [], new byte[size]);
        var written = await transport.CallAsync(projection.AddressOf(chain.Head), new WriteRequest(projection.Epoch, EntryCodec.Encode(entry)), default);
        return written.IsOk ? token.First : throw CorfuException.FromStatus(written.Status, "A write");
    }

    private static async Task AppendAsync(CorfuClient client, byte[] payload, CancellationToken stop)
    {
        while (!stop.IsCancellationRequested) (await client.AppendAsync(payload, [], CancellationToken.None)).Require();
    }
}

using System.Collections.Immutable;
using Corfu.Client;
using Corfu.Protocol;
using Corfu.Transport;

namespace Corfu.FaultRuns.Clients;

/// <summary>Reads of a fresh client at the end: the whole log, every stream, and every replica by itself.</summary>
internal static class Audit
{
    private const int Batch = 256;
    private const int Attempts = 60;

    private static readonly TimeSpan Pause = TimeSpan.FromSeconds(1);

    public static async Task<int> RunAsync(string connect, string file)
    {
        await using var client = await WorkClient.ConnectAsync(connect);
        await using var output = new StreamWriter(file);
        var tail = (await client.CheckAsync([])).Tail.Offset;
        output.WriteLine($"tail\t{tail}");
        for (var first = 0L; first < tail; first += Batch)
        {
            ImmutableArray<LogPosition> positions = [.. Enumerable.Range(0, (int)Math.Min(Batch, tail - first))
                .Select(i => new LogPosition(first + i))];
            foreach (var result in await client.ReadManyAsync(positions))
                output.WriteLine($"log\t{result.Position.Offset}\t{WorkClient.Describe(result)}");
        }

        for (var i = 0; i < EntryText.Streams; i++)
        {
            var id = EntryText.Stream(i);
            var stream = new StreamCursor(client, id);
            await stream.SyncAsync();
            while (await stream.ReadNextAsync() is { } entry)
                output.WriteLine(
                    $"stream\t{id.Value}\t{entry.Position.Offset}\t"
                    + $"{EntryText.NameOf(entry.Payload.Span) ?? "damaged"}");
        }

        if (!await CompareUntilStillAsync(client, tail, output)) return 1;
        output.WriteLine("end");
        return 0;
    }

    // Agents may still be at work: a comparison counts when no epoch ended during it.
    private static async Task<bool> CompareUntilStillAsync(CorfuClient client, long tail, StreamWriter output)
    {
        for (var attempt = 0; attempt < Attempts; attempt++)
        {
            var lines = new StringWriter();
            try
            {
                if (await CompareReplicasAsync(client.Projection, tail, lines))
                {
                    output.Write(lines);
                    return true;
                }
            }
            catch (TransportException e)
            {
                Console.WriteLine($"comparing replicas: {e.Message}");
            }

            await Task.Delay(Pause);
            await client.CheckAsync([]);
        }

        Console.WriteLine("the replicas could not be compared");
        return false;
    }

    // Replicas of a chain never differ, and in the end none lacks anything.
    private static async Task<bool> CompareReplicasAsync(Projection projection, long tail, StringWriter output)
    {
        using var transport = new TcpTransport(new TcpTransportOptions { Cluster = projection.Cluster });
        foreach (var segment in projection.Segments)
        {
            var until = Math.Min(tail, segment.Until?.Offset ?? tail);
            for (var c = 0; c < segment.Chains.Length; c++)
            {
                var positions = new List<LogPosition>();
                for (var p = segment.From.Offset; p < until; p++)
                {
                    if (p % segment.Chains.Length == c) positions.Add(new LogPosition(p));
                }

                foreach (var part in positions.Chunk(1000))
                {
                    if (!await ComparePartAsync(transport, projection, segment.Chains[c], part, output)) return false;
                }
            }
        }

        return true;
    }

    private static async Task<bool> ComparePartAsync(TcpTransport transport, Projection projection, Chain chain,
        LogPosition[] part, StringWriter output)
    {
        var pages = new List<ImmutableArray<PageResult>>();
        foreach (var replica in chain.Replicas.Where(r => !r.Joining))
        {
            var request = new ReadRequest(projection.Epoch, [.. part], ReadDetail.State);
            var unit = projection.AddressOf(replica.Unit);
            var response = await transport.CallAsync(unit, request, default);
            if (response.Status == Status.NotInstalled)
            {
                // No client has asked this unit of a closed range in this epoch (R14).
                await transport.CallAsync(unit, new InstallRequest(projection), default);
                response = await transport.CallAsync(unit, request, default);
            }

            if (response.Status == Status.Sealed) return false;
            if (!response.IsOk) output.WriteLine($"replica\t{part[0].Offset}\t{replica.Unit} says {response.Status}");
            else pages.Add(response.Pages);
        }

        for (var i = 0; i < part.Length; i++)
        {
            if (pages.Any(p => p[i].State != pages[0][i].State || p[i].Origin != pages[0][i].Origin))
                output.WriteLine(
                    $"replica\t{part[i].Offset}\tdiffers: {string.Join(", ", pages.Select(p => $"{p[i].State} "
                    + $"{p[i].Origin}"))}");
        }

        output.WriteLine($"compared\t{part.Length}\t{pages.Count}");
        return true;
    }
}

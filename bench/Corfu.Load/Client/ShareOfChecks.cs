using System.Globalization;
using Corfu.Client;
using Corfu.Protocol;
using Corfu.Transport;
using HdrHistogram;

namespace Corfu.Load;

/// <summary>Linearizable checks beside what they would be without their confirmation.</summary>
internal static class ShareOfChecks
{
    public static async Task RunAsync(string cluster, RunParameters p, int rounds)
    {
        await using var client = await CorfuClient.ConnectAsync(cluster);
        var projection = client.Projection;
        using var transport = new TcpTransport(new TcpTransportOptions { Cluster = projection.Cluster });
        var query = new TailRequest(projection.Epoch, []);
        var length = TimeSpan.FromSeconds(p.Seconds);
        List<double> ofQueries = [], ofSession = [];
        for (var round = 0; round <= rounds; round++)
        {
            var queries = await ClosedLoop.RunAsync(
                p.InFlight, length,
                async _ => await transport.CallAsync(projection.Sequencer, query, CancellationToken.None));
            var session = await ClosedLoop.RunAsync(p.InFlight, length,
                async _ => await client.CheckAsync([], ReadConsistency.Session));
            var confirmed = await ClosedLoop.RunAsync(p.InFlight, length, async _ => await client.CheckAsync([]));
            if (round == 0) continue;
            ClientCommands.Print("tail queries, one per caller", queries.Histogram, queries.Seconds);
            ClientCommands.Print("session checks, shared", session.Histogram, session.Seconds);
            ClientCommands.Print("confirmed checks, shared", confirmed.Histogram, confirmed.Seconds);
            ofQueries.Add(PerSecond(confirmed) / PerSecond(queries));
            ofSession.Add(PerSecond(confirmed) / PerSecond(session));
        }

        Console.WriteLine(string.Create(
            CultureInfo.InvariantCulture,
            $"  confirmed: {Median(ofQueries):0.00} of the tail queries, {Median(ofSession):0.00} of the session "
            + $"checks (medians)"));

        static double PerSecond((LongHistogram Histogram, double Seconds, long Failures) result) =>
            result.Histogram.TotalCount / result.Seconds;
    }

    private static double Median(List<double> values)
    {
        values.Sort();
        return values[values.Count / 2];
    }
}

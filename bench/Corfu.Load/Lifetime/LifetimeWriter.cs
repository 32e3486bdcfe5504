using System.CommandLine;
using System.Globalization;
using Corfu.Client;
using Tango;
using Tango.Collections;

namespace Corfu.Load;

/// <summary>
/// A client process of <c>lifetime</c>: sets keys of one dictionary in turn and says how far it is acknowledged, until
/// it is killed or done. It holds objects open that it does not change.
/// </summary>
internal static class LifetimeWriter
{
    public const string Name = "lifetime-writer";
    public const string Live = "live";

    private const int InFlight = 1024;

    public static string IdleName(int i) => string.Create(CultureInfo.InvariantCulture, $"idle {i}");

    public static Command Create()
    {
        var connect = new Option<string>("--connect") { Required = true };
        var from = new Option<long>("--from");
        var updates = new Option<long>("--updates");
        var keys = new Option<int>("--keys");
        var idle = new Option<int>("--idle");
        var command = new Command(Name, "A client of lifetime; started by it.")
        {
            connect, from, updates, keys, idle,
        };
        command.Hidden = true;
        command.SetAction(async (result, cancellationToken) =>
        {
            await using var client =
                await CorfuClient.ConnectAsync(result.GetRequiredValue(connect), cancellationToken: cancellationToken);
            // Small entries: what is kept of the log is counted in positions.
            await using var runtime = new TangoRuntime(
                client, new TangoOptions { MaxBatchRecords = 16, MaxAppendsInFlight = 64 });
            var live = await runtime.OpenAsync<TangoDictionary<int, long>>(Live, OpenMode.Create, cancellationToken);
            for (var i = 0; i < result.GetValue(idle); i++)
                await runtime.OpenAsync<TangoRegister<string>>(IdleName(i), OpenMode.Create, cancellationToken);
            await WriteAsync(
                live, result.GetValue(from), result.GetValue(updates), result.GetValue(keys), cancellationToken);
            return 0;
        });
        return command;
    }

    private static async Task WriteAsync(TangoDictionary<int, long> live, long from, long updates, int keys,
        CancellationToken cancellationToken)
    {
        for (var next = from; next < updates; next += InFlight)
        {
            var count = (int)Math.Min(InFlight, updates - next);
            await Task.WhenAll(Enumerable.Range(0, count)
                .Select(i => live.SetAsync((int)((next + i) % keys), next + i, cancellationToken).AsTask()));
            await Console.Out.WriteLineAsync(
                string.Create(CultureInfo.InvariantCulture, $"{next + count} {Environment.WorkingSet >> 20}"));
        }
    }
}

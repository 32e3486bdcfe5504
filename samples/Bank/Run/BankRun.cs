using System.Globalization;
using BankSample.Machine;
using Corfu.Hosting;

namespace BankSample.Run;

/// <summary>Clients move money while replicas are killed; then every replica is asked what it has.</summary>
internal static class BankRun
{
    /// <returns>Whether all is as it must be.</returns>
    public static async Task<bool> RunAsync(BankPlan plan, string? connection, CancellationToken cancellationToken)
    {
        await using EmbeddedCluster? cluster = connection is null
            ? await EmbeddedCluster.StartAsync(cancellationToken: cancellationToken)
            : null;
        await using Replicas replicas = await Replicas.StartAsync(
            connection ?? cluster!.ConnectionString, BankPlan.Replicas, cancellationToken);
        await Console.Out.WriteLineAsync(
            $"{BankPlan.Replicas} replicas, {plan.Clients} clients, {plan.Accounts} accounts of {Accounts.Opening}");

        Totals before = await Totals.ReadAsync(replicas[0], plan.Accounts, cancellationToken);
        using var stop = CancellationTokenSource.CreateLinkedTokenSource(cancellationToken);
        var progress = new Progress(plan);
        BankClient[] clients =
            [.. Enumerable.Range(0, plan.Clients).Select(client => new BankClient(client, replicas, plan))];
        Task[] running =
        [
            .. clients.Select(client => client.RunAsync(progress, stop.Token)),
            KillAsync(plan, replicas, progress, stop.Token),
        ];
        try
        {
            // The first failure ends the rest.
            await foreach (Task ended in Task.WhenEach(running)) await ended;
        }
        finally
        {
            await stop.CancelAsync();
            await Task.WhenAll(running).ConfigureAwait(ConfigureAwaitOptions.SuppressThrowing);
        }

        await Console.Out.WriteLineAsync(
            $"answers of {progress.Answered} transfers, {clients.Sum(static client => client.SentAgain)} sent again");
        return await JudgeAsync(plan, replicas, before, progress.Answered, cancellationToken);
    }

    private static async Task KillAsync(
        BankPlan plan, Replicas replicas, Progress progress, CancellationToken cancellationToken)
    {
        var random = new Random(plan.Seed);
        for (var killed = 0; killed < plan.Kills;)
        {
            if (!progress.IsKillDue)
            {
                await Task.Delay(5, cancellationToken);
                continue;
            }

            int replica = random.Next(replicas.Count);
            await replicas.KillAsync(replica, cancellationToken);
            progress.HasKilled();
            killed++;
            await Console.Out.WriteLineAsync(
                $"replica {replica} killed behind {progress.Answered} transfers, and is back");
        }
    }

    private static async Task<bool> JudgeAsync(
        BankPlan plan, Replicas replicas, Totals before, int answered, CancellationToken cancellationToken)
    {
        var told = new List<Totals>();
        for (var i = 0; i < replicas.Count; i++)
            told.Add(await Totals.ReadAsync(replicas[i], plan.Accounts, cancellationToken));
        if (told.Distinct().Count() != 1)
        {
            await Console.Out.WriteLineAsync($"replicas differ: {string.Join("; ", told)}");
            return false;
        }

        (int ran, int twice, long total) = told[0];
        long expected = plan.Accounts * Accounts.Opening;
        await Console.Out.WriteLineAsync(
            $"transfers {answered} applied {ran - before.Ran} twice {twice} total {total} of {expected}");
        return ran - before.Ran == answered && answered == plan.Transfers && twice == 0 && total == expected;
    }

    /// <summary>Totals of a replica.</summary>
    private sealed record Totals(int Ran, int Twice, long Total)
    {
        public static async Task<Totals> ReadAsync(
            CallProcess replica, int accounts, CancellationToken cancellationToken) =>
            (await replica.AskAsync($"totals {accounts}", cancellationToken))?.Split(' ')
                is [var ran, var twice, var total]
                ? new Totals(int.Parse(ran, CultureInfo.InvariantCulture),
                    int.Parse(twice, CultureInfo.InvariantCulture), long.Parse(total, CultureInfo.InvariantCulture))
                : throw new BankException("A replica does not tell what it has");
    }
}

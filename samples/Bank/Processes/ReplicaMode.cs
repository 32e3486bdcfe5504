using System.Globalization;
using BankSample.Machine;
using Corfu.Client;
using Corfu.StateMachines;

namespace BankSample.Processes;

/// <summary>A replica process. It takes a line for each call, answers in any order, and ends when its input does.
/// </summary>
/// <remarks>
/// <list type="bullet">
/// <item><c>TAG open</c>: the id of a new session.</item>
/// <item><c>TAG transfer SESSION NUMBER NAME FROM TO AMOUNT</c>: the outcome, and whether money was moved.</item>
/// <item><c>TAG totals ACCOUNTS</c>: transfers that ran, those that ran twice, and the sum of all accounts.</item>
/// </list>
/// </remarks>
internal static class ReplicaMode
{
    public const string Name = "replica";
    public const string Ready = "ready";

    // Small, so that replicas that start again have a snapshot.
    private static readonly ReplicaOptions s_options = new() { Machine = "bank", SnapshotCommands = 500 };

    public static async Task<int> RunAsync(string connection, CancellationToken cancellationToken)
    {
        await using CorfuClient log = await CorfuClient.ConnectAsync(connection, cancellationToken: cancellationToken);
        await using Replica<Accounts> replica = await Replica<Accounts>.OpenAsync(
            log, "bank", () => new Accounts(), s_options, cancellationToken);
        await Console.Out.WriteLineAsync(Ready);
        TextWriter answers = TextWriter.Synchronized(Console.Out);
        var running = new List<Task>();
        while (await Console.In.ReadLineAsync(cancellationToken) is { } line)
        {
            running.RemoveAll(static task => task.IsCompletedSuccessfully);
            running.Add(AnswerAsync(replica, line.Split(' '), answers, cancellationToken));
        }

        await Task.WhenAll(running);
        return 0;
    }

    private static async Task AnswerAsync(
        Replica<Accounts> replica, string[] call, TextWriter answers, CancellationToken cancellationToken)
    {
        string answer;
        try
        {
            answer = call[1] switch
            {
                "open" => $"{(await replica.OpenSessionAsync(cancellationToken)).Id}",
                "transfer" => await TransferAsync(replica, call, cancellationToken),
                _ => await replica.QueryAsync(
                    accounts => $"{accounts.Ran} {accounts.Twice} {accounts.Total(Number(call[2]))}",
                    cancellationToken: cancellationToken),
            };
        }
        catch (MachineException e) when (e is not ReplicaBusyException)
        {
            // No replica goes on from here: a correct machine never comes to this.
            answer = $"stopped {e.Message}";
        }
        catch (Corfu.CorfuException e)
        {
            // Nothing of this call is in the log: its client tries again.
            answer = $"failed {e.Message}";
        }

        await answers.WriteLineAsync($"{call[0]} {answer}");
    }

    private static async Task<string> TransferAsync(
        Replica<Accounts> replica, string[] call, CancellationToken cancellationToken)
    {
        long number = Number(call[3]);
        var transfer = new Transfer(call[4], Number(call[5]), Number(call[6]), Number(call[7]));
        // The client sends one transfer at a time, and has the answers of all before.
        CommandOutcome outcome = await replica.Attach(long.Parse(call[2], CultureInfo.InvariantCulture)).ProposeAsync(
            number, Accounts.Encode(transfer, Accounts.Options), answeredBelow: number, cancellationToken);
        return outcome.HasResult
            ? $"{outcome.Status} {Accounts.Decode(outcome, Accounts.Options).Done}"
            : $"{outcome.Status}";
    }

    private static int Number(string text) => int.Parse(text, CultureInfo.InvariantCulture);
}

using System.Globalization;
using Corfu.StateMachines;

namespace BankSample.Run;

/// <summary>A client with a session. It sends a transfer until it has an answer, at one replica after the other.
/// </summary>
internal sealed class BankClient
{
    private static readonly TimeSpan s_pause = TimeSpan.FromMilliseconds(50);

    private readonly int _client;
    private readonly Replicas _replicas;
    private readonly BankPlan _plan;
    private readonly Random _random;
    private int _replica;
    private long _session;

    public BankClient(int client, Replicas replicas, BankPlan plan)
    {
        (_client, _replicas, _plan) = (client, replicas, plan);
        (_random, _replica) = (new Random(plan.Seed + client), client);
    }

    /// <summary>How often a transfer was sent again, because its replica was killed or did not know.</summary>
    public int SentAgain { get; private set; }

    /// <exception cref="BankException">An answer that no correct bank gives.</exception>
    public async Task RunAsync(Progress progress, CancellationToken cancellationToken)
    {
        string? opened;
        while ((opened = await _replicas[_replica].AskAsync("open", cancellationToken)) is null || Failed(opened))
            await MoveAsync(cancellationToken);
        if (!long.TryParse(opened, CultureInfo.InvariantCulture, out _session))
            throw new BankException($"A session was answered with '{opened}'");
        for (var number = 0; number < _plan.TransfersOf(_client); number++)
        {
            while (progress.IsAhead) await Task.Delay(5, cancellationToken);
            await TransferAsync(number, cancellationToken);
            progress.HasAnswer();
        }
    }

    private async Task TransferAsync(int number, CancellationToken cancellationToken)
    {
        int from = _random.Next(_plan.Accounts);
        int to = _random.Next(_plan.Accounts);
        var call = $"transfer {_session} {number} {_session}/{number} {from} {to} {_random.Next(1, 100)}";
        while (true)
        {
            string? answer = await _replicas[_replica].AskAsync(call, cancellationToken);
            switch (answer?.Split(' ')[0])
            {
                case nameof(CommandStatus.Applied) or nameof(CommandStatus.AppliedBefore):
                    return;
                // The number says which transfer it is: it runs once, however often it is sent.
                case null or "failed" or nameof(CommandStatus.InDoubt) or nameof(CommandStatus.NotApplied):
                    SentAgain++;
                    await MoveAsync(cancellationToken);
                    break;
                default:
                    throw new BankException($"Transfer {_client}/{number} was answered with '{answer}'");
            }
        }
    }

    private async Task MoveAsync(CancellationToken cancellationToken)
    {
        _replica++;
        await Task.Delay(s_pause, cancellationToken);
    }

    private static bool Failed(string answer) => answer.StartsWith("failed", StringComparison.Ordinal);
}

/// <summary>The bank has given an answer that no correct bank gives.</summary>
internal sealed class BankException(string message) : Exception(message);

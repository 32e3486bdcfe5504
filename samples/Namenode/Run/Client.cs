using System.Globalization;
using NamenodeSample.Serving;
using NamenodeSample.Tree;

namespace NamenodeSample.Run;

/// <summary>A client: sends an operation until it is answered, to one namenode after the other.</summary>
internal sealed class Client(string name, Namenodes namenodes, History history)
{
    private static readonly TimeSpan s_pause = TimeSpan.FromMilliseconds(20);
    private static readonly TimeSpan s_patience = TimeSpan.FromSeconds(1);

    private int _at;
    private long _number;

    public async Task RunAsync(Random random, Pace pace, CancellationToken cancellationToken)
    {
        while (await pace.BeginAsync(cancellationToken))
        {
            await DoAsync(Operations.Draw(random), cancellationToken);
            pace.HasEnded();
        }
    }

    public async Task DoAsync(Operation operation, CancellationToken cancellationToken)
    {
        long number = ++_number;
        long known = history.Highest;
        for (var isInDoubt = false; ; _at++)
        {
            CallProcess namenode = namenodes[_at];
            string? answer = await AskAsync(namenode, $"do {name} {number} {operation}", cancellationToken);
            if (answer is null) isInDoubt = true;
            else if (answer != Answers.Standby)
            {
                history.Add(Parse(answer, name, number, operation, known, namenode.Name), isInDoubt);
                return;
            }

            await Task.Delay(s_pause, cancellationToken);
        }
    }

    /// <exception cref="RunException">No namenode gives such an answer.</exception>
    public static Answer Parse(
        string answer, string client, long number, Operation operation, long known, string by) =>
        answer.Split(' ', 3) is [var kind, var id, var text]
        && long.TryParse(id, NumberStyles.None, CultureInfo.InvariantCulture, out long edit)
            ? new Answer(client, number, operation, kind, edit, text, known, by)
            : throw new RunException($"{by} answered {operation} with '{answer}'");

    // No answer in time is none: a stopped namenode says nothing.
    private static async Task<string?> AskAsync(
        CallProcess namenode, string call, CancellationToken cancellationToken)
    {
        using var late = CancellationTokenSource.CreateLinkedTokenSource(cancellationToken);
        late.CancelAfter(s_patience);
        try
        {
            return await namenode.AskAsync(call, late.Token);
        }
        catch (OperationCanceledException) when (!cancellationToken.IsCancellationRequested)
        {
            return null;
        }
    }
}

/// <summary>The run cannot go on, or a namenode is wrong.</summary>
internal sealed class RunException(string message) : Exception(message);

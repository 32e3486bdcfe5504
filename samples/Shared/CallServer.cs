namespace SharedSample;

/// <summary>The child's side of a <see cref="CallProcess"/>: a line <c>TAG CALL</c> for each call, answered in any
/// order by <c>TAG ANSWER</c>.</summary>
public static class CallServer
{
    internal const string Ready = "ready";
    internal const string Why = "why";

    private static readonly TextWriter s_answers = TextWriter.Synchronized(Console.Out);

    /// <summary>Answers calls until the input ends, or an answer fails. Calls that are pending then are cancelled: no
    /// process is left to hear their answers.</summary>
    /// <param name="answer">Takes the words of a call. Null: there is no answer, as if the call had been lost.</param>
    public static async Task RunAsync(
        Func<string[], CancellationToken, Task<string?>> answer, CancellationToken cancellationToken)
    {
        await s_answers.WriteLineAsync(Ready);
        using var stop = CancellationTokenSource.CreateLinkedTokenSource(cancellationToken);
        var running = new List<Task>();
        try
        {
            while (await ReadAsync(stop.Token) is { } line)
            {
                running.RemoveAll(static task => task.IsCompletedSuccessfully);
                running.Add(AnswerAsync(answer, line.Split(' '), stop));
            }
        }
        catch (OperationCanceledException) when (!cancellationToken.IsCancellationRequested)
        {
            // An answer has failed.
        }
        finally
        {
            await stop.CancelAsync();
            await Task.WhenAll(running).ConfigureAwait(ConfigureAwaitOptions.SuppressThrowing);
        }

        if (running.Find(static task => task.IsFaulted) is { } failed) await failed;
    }

    /// <summary>Tells the parent why this child ends.</summary>
    public static Task SayWhyAsync(string reason) =>
        s_answers.WriteLineAsync($"{Why} {reason.ReplaceLineEndings(" ")}");

    // Reading the console blocks its thread, and no token ends that.
    private static Task<string?> ReadAsync(CancellationToken cancellationToken) =>
        Task.Run(Console.In.ReadLine, cancellationToken).WaitAsync(cancellationToken);

    private static async Task AnswerAsync(
        Func<string[], CancellationToken, Task<string?>> answer, string[] words, CancellationTokenSource stop)
    {
        try
        {
            if (await answer(words[1..], stop.Token) is { } text)
                await s_answers.WriteLineAsync($"{words[0]} {text}");
        }
        catch
        {
            await stop.CancelAsync();
            throw;
        }
    }
}

namespace Craq.Transactions;

/// <summary>Requests to the heads of parts, repeated until they answer or their time is over.</summary>
internal sealed class PartCalls(
    CraqHandler handler, ITransport transport, TimeProvider time, CraqNodeOptions options)
{
    /// <summary>Asks the head of a part's chain, wherever it is by now.</summary>
    /// <param name="request">Made for each epoch.</param>
    /// <returns>The last answer, Ok or not; Unconfirmed: there was none.</returns>
    public async Task<PartResponse> AskAsync(
        ChainId chain, Func<Epoch, Request<PartResponse>> request, CancellationToken limit)
    {
        var last = new PartResponse(CraqStatus.Unconfirmed, Epoch.None);
        ChainView? view = null;
        while (!limit.IsCancellationRequested)
        {
            view = Newer(handler.FindView(chain), view);
            var asked = view?.Config.Epoch ?? Epoch.None;
            if (view is not null && await TryAskAsync(view.Address(0), request(asked), limit) is { } answer)
            {
                last = answer;
                if (answer.IsOk || IsFinal(answer.Status)) return answer;
                view = Newer(answer.View, view);
            }

            // A newer config is followed at once: epochs rise, so this ends.
            if (view?.Config.Epoch > asked) continue;
            if (!await TryPauseAsync(limit)) break;
        }

        return last;
    }

    private async Task<PartResponse?> TryAskAsync(
        NodeAddress head, Request<PartResponse> request, CancellationToken limit)
    {
        try
        {
            return head.Id == handler.Id
                ? await AskOwnAsync(request, limit)
                : await transport.CallAsync(handler.Locate(head), request, limit);
        }
        catch (Exception error) when (error is CorfuException or OperationCanceledException or ObjectDisposedException)
        {
            return null;
        }
    }

    private async Task<PartResponse> AskOwnAsync(Request<PartResponse> request, CancellationToken limit)
    {
        var sink = new OwnAnswer();
        handler.Handle(request, new ReplyTo(sink, 0, request.Opcode));
        handler.BatchEnd();
        return (PartResponse)await sink.Answer.WaitOrCancelAsync(limit);
    }

    private async Task<bool> TryPauseAsync(CancellationToken limit)
    {
        try
        {
            await Task.Delay(options.Tick, time, limit);
            return true;
        }
        catch (OperationCanceledException)
        {
            return false;
        }
    }

    private static ChainView? Newer(ChainView? a, ChainView? b) =>
        a is null || b?.Config.Epoch > a.Config.Epoch ? b : a;

    // All others pass: an epoch that is not open, a head that has changed.
    private static bool IsFinal(Status status) => status is CraqStatus.Forgotten or CraqStatus.NotFound
        or Status.TooLarge or Status.NoSpace or Status.Overloaded or Status.BadRequest or Status.Corrupt
        or Status.Unsupported or Status.Denied;

    private sealed class OwnAnswer : IReplySink
    {
        private readonly TaskCompletionSource<Response> _answer =
            new(TaskCreationOptions.RunContinuationsAsynchronously);

        public Task<Response> Answer => _answer.Task;

        public void Send(uint correlation, Opcode opcode, Response response) => _answer.TrySetResult(response);
    }
}

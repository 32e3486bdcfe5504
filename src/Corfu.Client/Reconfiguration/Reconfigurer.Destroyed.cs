using Corfu.Protocol;
using Corfu.Transport;

namespace Corfu.Client;

public sealed partial class Reconfigurer
{
    /// <summary>
    /// R14's override: units that are gone cannot say how high they were written, so that the new epoch might grant positions again that writers have been
    /// told are theirs. Whatever was acknowledged had been granted before: asked after the seals, the old sequencer knows, if it answers.
    /// </summary>
    /// <returns>The lowest position that it has not granted; zero where it does not answer.</returns>
    private async ValueTask<LogPosition> GrantedAsync(Projection current, CancellationToken cancellationToken)
    {
        using var timeout = new CancellationTokenSource(_options.RoundTimeout, _time);
        using var either = CancellationTokenSource.CreateLinkedTokenSource(timeout.Token, cancellationToken);
        try
        {
            var answer = await _transport.CallAsync(current.Sequencer, new TailRequest(current.Epoch, []), either.Token);
            if (answer.IsOk) return answer.Tail;
            ClientLog.TailNotKnown(_logger, current.Sequencer.ToString(), answer.Status.ToString());
        }
        catch (Exception e) when (e is TransportException or OperationCanceledException && !cancellationToken.IsCancellationRequested)
        {
            ClientLog.TailNotKnown(_logger, current.Sequencer.ToString(), e.Message);
        }

        return LogPosition.Zero;
    }
}

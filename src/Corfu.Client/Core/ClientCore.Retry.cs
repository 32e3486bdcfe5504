using Corfu.Protocol;

namespace Corfu.Client;

internal sealed partial class ClientCore
{
    /// <summary>
    /// Tries until there is a value, each time under the newest epoch known. Seals are waited out, nodes without an answer are tried
    /// again, until <see cref="CorfuClientOptions.OperationTimeout"/>.
    /// </summary>
    public async ValueTask<T> RetryAsync<T>(string what, Func<EpochView, ValueTask<Attempt<T>>> attempt, CancellationToken cancellationToken)
    {
        Patience? patience = null;
        while (true)
        {
            ThrowIfClosed();
            cancellationToken.ThrowIfCancellationRequested();
            var view = View;
            string trouble;
            Exception? cause = null;
            try
            {
                var result = await attempt(view);
                if (result.IsDone) return result.Value;
                if (result.Status == Status.Sealed)
                {
                    patience ??= Patience(what, cancellationToken);
                    await Refresher.NewerThanAsync(view.Epoch, patience, cancellationToken);
                    continue;
                }

                if (!IsTransient(result.Status)) throw CorfuException.FromStatus(result.Status, what);
                trouble = $"a node says {result.Status}.";
            }
            catch (TransportException e)
            {
                trouble = e.Message;
                cause = e;
            }

            patience ??= Patience(what, cancellationToken);
            await patience.PauseAsync(view.Epoch, trouble, cause);
        }
    }

    private static bool IsTransient(Status status) => status is
        Status.NotInstalled or Status.NotBootstrapped or Status.Overloaded or Status.Failed or Status.NoSpace or Status.WrongNode
        or Status.UnknownStream or Status.Unready;
}

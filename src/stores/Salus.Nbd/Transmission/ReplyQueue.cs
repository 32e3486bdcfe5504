using System.Threading.Channels;
using Salus.Nbd.Commands;

namespace Salus.Nbd.Transmission;

/// <summary>Replies of a connection, in the order in which commands end. Replies that are ready together leave
/// together.</summary>
internal sealed class ReplyQueue(ExportView export, ReplyOutput output)
{
    private readonly Channel<NbdRequest> _ready = Channel.CreateUnbounded<NbdRequest>(
        new UnboundedChannelOptions { SingleReader = true });

    /// <summary>The command has ended.</summary>
    public void Add(NbdRequest request) => _ready.Writer.TryWrite(request);

    /// <summary>No command comes any more.</summary>
    public void Complete() => _ready.Writer.Complete();

    /// <summary>Writes until <see cref="Complete"/>. Once the client has gone, replies are only released.</summary>
    /// <param name="written">Gets each command behind its reply.</param>
    /// <param name="gone">Called once, when the client takes no more replies.</param>
    public async Task RunAsync(Action<NbdRequest> written, Action<Exception> gone)
    {
        var isGone = false;
        while (await _ready.Reader.WaitToReadAsync().ConfigureAwait(false))
        {
            while (_ready.Reader.TryRead(out var request))
            {
                try
                {
                    if (!isGone) await CommandTable.ReplyAsync(request, export, output).ConfigureAwait(false);
                }
                catch (Exception e)
                {
                    isGone = true;
                    gone(e);
                }

                written(request);
            }

            try
            {
                if (!isGone) await output.FlushAsync().ConfigureAwait(false);
            }
            catch (Exception e)
            {
                isGone = true;
                gone(e);
            }
        }
    }
}

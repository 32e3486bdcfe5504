using System.Buffers;
using System.IO.Pipelines;
using System.Security.Cryptography.X509Certificates;
using System.Text;
using Corfu.ZooKeeper.Auth;
using Corfu.ZooKeeper.FourLetter;
using Corfu.ZooKeeper.Serving;
using Corfu.ZooKeeper.Wire;
using Microsoft.AspNetCore.Connections;

namespace Corfu.ZooKeeper.Connections;

/// <summary>A connection from its first byte to its last.</summary>
internal sealed partial class ZooConnection
{
    private const int HeadSize = sizeof(int);
    private const int NoAttachment = -1;

    private Action? _abort;
    private PipeReader? _input;

    public async Task ServeAsync(ConnectionContext context)
    {
        _abort = context.Abort;
        _input = context.Transport.Input;
        lock (Dispatcher.Gate)
        {
            if (!Dispatcher.Connections.TryAdd(this))
            {
                Note(CloseReason.Limit, "there are too many connections");
                context.Abort();
                return;
            }
        }

        try
        {
            // The client has a place in the table: handshakes are bounded as connections are.
            if (_services.Tls is not { } tls) await ServeAsync(context.Transport);
            else if (await tls.ServeAsync(context,
                own => ServeEncryptedAsync(context.Transport, own)) is { } refusal)
                Note(CloseReason.Handshake, refusal);
        }
        finally
        {
            lock (Dispatcher.Gate)
            {
                Leave();
                Dispatcher.Connections.Forget(this);
            }
        }
    }

    private Task ServeEncryptedAsync(IDuplexPipe transport, X509Certificate2 certificate)
    {
        lock (Dispatcher.Gate)
        {
            // Closed during the handshake: nothing cancels a read that is to come.
            if (_isClosed) return Task.CompletedTask;
            _input = transport.Input;
            _ids = _ids.Add(new AuthId("x509", Credentials.SubjectOf(certificate)));
        }

        return ServeAsync(transport);
    }

    private async Task ServeAsync(IDuplexPipe transport)
    {
        // Not with the connection's token: a client may have sent its last byte, as 'echo ruok | nc' does, and wait.
        using var stop = new CancellationTokenSource();
        var sending = _services.Loops.RunAsync(() => _output.RunAsync(transport.Output, stop.Token));
        try
        {
            await ReadAsync(transport.Input, stop.Token);
        }
        catch (Exception e) when (e is OperationCanceledException or IOException)
        {
            // The client has gone.
        }
        catch (Exception e)
        {
            FrontEndLog.Failed(_services.Logger, Peer, e);
        }
        finally
        {
            lock (Dispatcher.Gate) Leave();
            try
            {
                await sending.WaitAsync(ConnectionLimits.Handshake, _services.Time);
            }
            catch (Exception e) when (e is OperationCanceledException or IOException or TimeoutException)
            {
                // The client takes nothing more.
            }

            await stop.CancelAsync();
        }
    }

    private async Task ReadAsync(PipeReader input, CancellationToken cancellationToken)
    {
        using (var limit = new CancellationTokenSource(ConnectionLimits.Handshake, _services.Time))
        {
            if (!await OpenAsync(input, limit.Token)) return;
        }

        while (true)
        {
            var read = await input.ReadAsync(cancellationToken);
            // The connection was closed here.
            if (read.IsCanceled) return;
            var left = read.Buffer;
            while (true)
            {
                var state = Frames.Take(ref left, out var frame);
                if (state == FrameState.Malformed) return;
                if (state == FrameState.Partial) break;
                if (Take(frame) is not { } room) return;
                if (room.IsCompletedSuccessfully) continue;
                Hold(left.Length);
                await room;
            }

            Hold(left.Length);
            input.AdvanceTo(left.Start, left.End);
            if (read.IsCompleted) return;
        }
    }

    // Bytes that have come, and are no request yet.
    private void Hold(long bytes)
    {
        if (bytes == _partialBytes) return;
        lock (Dispatcher.Gate)
        {
            _partialBytes = bytes;
            Recount();
        }
    }

    /// <returns>Null: the frame is too short for a request.</returns>
    private Task? Take(in ReadOnlySequence<byte> frame)
    {
        using var whole = RentedFrame.Of(frame);
        var reader = new JuteReader(whole.Span);
        if (!RequestReader.TryReadHead(ref reader, out var head)) return null;
        var request = OpCodes.IsRequest(head.Code) ? RequestReader.ReadBody(head.Code, ref reader) : null;
        return Enqueue(head, request, whole.Span.Length);
    }

    /// <summary>Takes the first frame, or answers a word.</summary>
    /// <returns>False: the connection ends.</returns>
    private async Task<bool> OpenAsync(PipeReader input, CancellationToken cancellationToken)
    {
        while (true)
        {
            var read = await input.ReadAsync(cancellationToken);
            if (read.IsCanceled) return false;
            var left = read.Buffer;
            if (Frames.TryPeek(left, out var head) && Words.Find(head) is { } word)
            {
                input.AdvanceTo(left.GetPosition(HeadSize));
                Answer(word);
                return false;
            }

            var state = Frames.Take(ref left, out var frame, ConnectRequest.MaxSize);
            if (state == FrameState.Whole)
            {
                var asked = ReadConnect(frame);
                input.AdvanceTo(left.Start);
                return asked is not null && await AttachAsync(asked, cancellationToken);
            }

            input.AdvanceTo(left.Start, left.End);
            if (state == FrameState.Malformed || read.IsCompleted) return false;
        }
    }

    private static ConnectRequest? ReadConnect(in ReadOnlySequence<byte> frame)
    {
        using var whole = RentedFrame.Of(frame);
        return ConnectRequest.Read(whole.Span);
    }

    private void Answer(string word)
    {
        lock (Dispatcher.Gate)
        {
            if (_services.OpenWords.Contains(word)) Reset(word);
            _output.Pending.WriteRaw(Words.Answer(word, _services.Facts(), _services.OpenWords));
            _output.Wake();
        }
    }

    private void Reset(string word)
    {
        if (word == "srst") _services.Figures.Reset();
        if (word != "crst") return;
        foreach (var connection in Dispatcher.Connections.Attached) connection.ResetFacts();
    }

    // The first answer comes behind the session's own record: all that the client saw anywhere stands below (Z17).
    private async Task<bool> AttachAsync(ConnectRequest asked, CancellationToken cancellationToken)
    {
        var timeout = Math.Clamp(asked.Timeout, (int)_services.Times.ShortestTimeout.TotalMilliseconds,
            (int)_services.Times.LongestTimeout.TotalMilliseconds);
        TreeRecord record;
        ImmutableArray<byte> password;
        lock (Dispatcher.Gate)
        {
            if (_isClosed) return false;
            if (!Dispatcher.MayAnswer()) return BindReadOnly(asked, timeout);
            (record, password) = SessionRecord(asked, timeout);
        }

        TreeResult result;
        try
        {
            // An attach that was sent takes the session in any case; one that waits too long is not sent.
            result = await _services.Partitions.UpdateAsync(record, cancellationToken);
        }
        catch (Exception e) when (LogFaults.IsFault(e))
        {
            Note(CloseReason.Log, e.Message);
            return false;
        }

        // Another result: the tree could not decide the record.
        if (result is not SessionResult session) return false;
        lock (Dispatcher.Gate) return Bind(asked, session, timeout, password);
    }

    private bool Bind(ConnectRequest asked, SessionResult result, int timeout, ImmutableArray<byte> password)
    {
        if (!Dispatcher.MayAnswer() || _isClosed || Dispatcher.Root is not { } root) return false;
        if (result.Error == ZooKeeperError.SessionExpired)
        {
            Answer(ConnectResponse.Refusal(asked.ReadOnly));
            return false;
        }

        // Another front end may have the session by now. A client that is ahead has seen another log.
        if (result.Error != ZooKeeperError.Ok
            || asked.LastZxidSeen > root.LastZxid && !Planted.Is("client-ahead-is-served")
            || root.FindSession(result.Session)?.Attachment != result.Attachment) return false;
        Dispatcher.Connections.Bind(result.Session, this);
        (Session, _attachment, _lastZxid, _timeout) =
            (result.Session, result.Attachment, asked.LastZxidSeen, timeout);
        Answer(new ConnectResponse(timeout, result.Session, password, asked.ReadOnly is null ? null : false));
        return true;
    }

    // Whether a session has ended cannot be told here, and is not. One that the tree knows needs its password.
    private bool BindReadOnly(ConnectRequest asked, int timeout)
    {
        if (asked.ReadOnly != true || !Dispatcher.IsReadOnly || asked.LastZxidSeen > Dispatcher.Roots.LastZxid
            || Dispatcher.Root!.FindSession(asked.Session) is { } known
                && known.Hash != Credentials.HashOf(asked.Password.AsSpan())) return false;
        var isNew = asked.Session == 0;
        var session = isNew ? _services.Identity.Draw() : asked.Session;
        var password = isNew ? _services.Identity.DrawPassword() : asked.Password;
        _isReadOnly = true;
        Dispatcher.Connections.Bind(session, this);
        // Z7: no attachment, so that no effect of the session's earlier writes is taken for a reply.
        (Session, _attachment, _lastZxid) = (session, NoAttachment, asked.LastZxidSeen);
        Answer(new ConnectResponse(timeout, session, password, ReadOnly: true));
        return true;
    }

    private (TreeRecord Record, ImmutableArray<byte> Password) SessionRecord(ConnectRequest asked, int timeout)
    {
        if (asked.Session != 0)
        {
            var hash = Credentials.HashOf(asked.Password.AsSpan());
            return (new AttachRecord(asked.Session, hash, timeout, _services.Identity.Id), asked.Password);
        }

        var password = _services.Identity.DrawPassword();
        return (new CreateSessionRecord(_services.Identity.Draw(), Credentials.HashOf(password.AsSpan()), timeout,
            _services.Identity.Id), password);
    }

    private void Answer(ConnectResponse response)
    {
        response.Write(_output.Pending);
        _output.Wake();
    }
}

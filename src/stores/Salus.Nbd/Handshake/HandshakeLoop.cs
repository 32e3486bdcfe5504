using System.Buffers;
using System.Buffers.Binary;
using System.IO.Pipelines;
using System.Net.Security;
using Corfu.Server;
using Salus.Nbd.Wire;

namespace Salus.Nbd.Handshake;

/// <summary>Fixed newstyle negotiation: the client sends options until it has chosen an export.</summary>
internal sealed class HandshakeLoop(
    HandshakeState state, NbdServerOptions limits, Func<SslServerAuthenticationOptions>? tls, TimeProvider time)
{
    /// <summary>Options of a client that means well; more close the connection.</summary>
    private const int MaxOptions = 128;

    /// <summary>The largest data of an option that is looked at: room for a name and some queries.</summary>
    private const int MaxData = 16 << 10;

    /// <summary>More data is not even passed over.</summary>
    private const int MaxSkipped = 1 << 20;

    // Magic 8, option 4, length 4.
    private const int HeadSize = 16;

    /// <summary>Null, or why there is no transmission.</summary>
    public async Task<string?> RunAsync(CancellationToken cancellationToken)
    {
        using var limit = new CancellationTokenSource(limits.HandshakeTimeout, time);
        using var end = CancellationTokenSource.CreateLinkedTokenSource(cancellationToken, limit.Token);
        try
        {
            WriteGreeting(state.Output);
            await state.Output.FlushAsync(end.Token).ConfigureAwait(false);
            if (await ReadAsync(4, ReadFlags, end.Token).ConfigureAwait(false) is not { } flags)
                return "it sent unknown flags";
            state.ClientFlags = flags;
            for (var i = 0; i < MaxOptions; i++)
            {
                switch (await AnswerNextAsync(limit, end.Token, cancellationToken).ConfigureAwait(false))
                {
                    case OptionOutcome.Transmit:
                        await state.Output.FlushAsync(end.Token).ConfigureAwait(false);
                        return null;
                    case OptionOutcome.Close:
                        await state.Output.FlushAsync(end.Token).ConfigureAwait(false);
                        return "it chose no export";
                    case OptionOutcome.StartTls:
                        await state.Output.FlushAsync(end.Token).ConfigureAwait(false);
                        await EncryptAsync(end.Token).ConfigureAwait(false);
                        break;
                    default:
                        await state.Output.FlushAsync(end.Token).ConfigureAwait(false);
                        break;
                }
            }

            return $"it sent more than {MaxOptions} options";
        }
        catch (OperationCanceledException) when (end.IsCancellationRequested
            && !cancellationToken.IsCancellationRequested)
        {
            return $"it chose no export within {limits.HandshakeTimeout.TotalSeconds:0} s";
        }
    }

    private static void WriteGreeting(IBufferWriter<byte> output)
    {
        var greeting = output.GetSpan(18);
        BinaryPrimitives.WriteUInt64BigEndian(greeting, Magic.Server);
        BinaryPrimitives.WriteUInt64BigEndian(greeting[8..], Magic.Option);
        BinaryPrimitives.WriteUInt16BigEndian(
            greeting[16..], (ushort)(HandshakeFlags.FixedNewstyle | HandshakeFlags.NoZeroes));
        output.Advance(18);
    }

    private static HandshakeFlags? ReadFlags(ReadOnlySpan<byte> bytes)
    {
        var flags = BinaryPrimitives.ReadUInt32BigEndian(bytes);
        return (flags & ~(uint)(HandshakeFlags.FixedNewstyle | HandshakeFlags.NoZeroes)) == 0
            ? (HandshakeFlags)flags
            : null;
    }

    private async ValueTask<OptionOutcome> AnswerNextAsync(
        CancellationTokenSource limit, CancellationToken inTime, CancellationToken cancellationToken)
    {
        var (isOption, option, length) = await ReadAsync(HeadSize, ReadHead, inTime).ConfigureAwait(false);
        if (!isOption || length > MaxSkipped) return OptionOutcome.Close;
        if (length > MaxData)
        {
            await SkipAsync((int)length, inTime).ConfigureAwait(false);
            if (option == OptionCode.ExportName) return OptionOutcome.Close;
            OptionReplies.Error(
                state.Output, option, OptionReply.TooBig, $"an option has at most {MaxData} bytes of data");
            return OptionOutcome.NextOption;
        }

        var data = await ReadAsync((int)length, static bytes => bytes.ToArray(), inTime).ConfigureAwait(false);
        if (tls is not null && !state.IsEncrypted && option is not (OptionCode.StartTls or OptionCode.Abort))
        {
            if (option == OptionCode.ExportName) return OptionOutcome.Close;
            OptionReplies.Error(state.Output, option, OptionReply.TlsRequired, "start TLS first");
            return OptionOutcome.NextOption;
        }

        // A mount has its own limit of time.
        var isMounting = option is OptionCode.Go or OptionCode.ExportName;
        if (isMounting) limit.CancelAfter(Timeout.InfiniteTimeSpan);
        try
        {
            return await AnswerAsync(option, data, cancellationToken).ConfigureAwait(false);
        }
        finally
        {
            if (isMounting) limit.CancelAfter(limits.HandshakeTimeout);
        }
    }

    private async ValueTask<OptionOutcome> AnswerAsync(
        OptionCode option, byte[] data, CancellationToken cancellationToken)
    {
        switch (option)
        {
            case OptionCode.ExportName:
                return await ExportNameOption.AnswerAsync(state, data, cancellationToken).ConfigureAwait(false);
            case OptionCode.Go:
                return await InfoOption.AnswerGoAsync(state, data, cancellationToken).ConfigureAwait(false);
            case OptionCode.Abort:
                return AbortOption.Answer(state);
            case OptionCode.List:
                return ListOption.Answer(state, data);
            case OptionCode.StartTls:
                return StartTlsOption.Answer(state, data, tls is not null);
            case OptionCode.Info:
                return InfoOption.AnswerInfo(state, data);
            case OptionCode.StructuredReply:
                return StructuredReplyOption.Answer(state, data);
            case OptionCode.ListMetaContext:
                return MetaContextOption.AnswerList(state, data);
            case OptionCode.SetMetaContext:
                return MetaContextOption.AnswerSet(state, data);
            default:
                OptionReplies.Error(
                    state.Output, option, OptionReply.Unsupported, "this server does not know the option");
                return OptionOutcome.NextOption;
        }
    }

    private static (bool IsOption, OptionCode Option, uint Length) ReadHead(ReadOnlySpan<byte> bytes) =>
        (BinaryPrimitives.ReadUInt64BigEndian(bytes) == Magic.Option,
            (OptionCode)BinaryPrimitives.ReadUInt32BigEndian(bytes[8..]),
            BinaryPrimitives.ReadUInt32BigEndian(bytes[12..]));

    // Bytes that the client sent in the clear behind STARTTLS are taken for a TLS record, and end the connection.
    private async ValueTask EncryptAsync(CancellationToken cancellationToken)
    {
        var stream = new SslStream(new DuplexPipeStream(state.Transport));
        try
        {
            await stream.AuthenticateAsServerAsync(tls!(), cancellationToken).ConfigureAwait(false);
        }
        catch
        {
            await stream.DisposeAsync().ConfigureAwait(false);
            throw;
        }

        state.Encrypt(new EncryptedTransport(stream));
    }

    private async ValueTask<T> ReadAsync<T>(
        int count, Func<ReadOnlySpan<byte>, T> parse, CancellationToken cancellationToken)
    {
        var input = state.Transport.Input;
        if (count == 0) return parse([]);
        var read = await input.ReadAtLeastAsync(count, cancellationToken).ConfigureAwait(false);
        if (read.Buffer.Length < count)
        {
            input.AdvanceTo(read.Buffer.End);
            throw new EndOfStreamException("the client closed the connection before it chose an export");
        }

        var bytes = read.Buffer.Slice(0, count);
        var parsed = parse(bytes.IsSingleSegment ? bytes.FirstSpan : bytes.ToArray());
        input.AdvanceTo(bytes.End);
        return parsed;
    }

    private async ValueTask SkipAsync(int count, CancellationToken cancellationToken)
    {
        while (count > 0)
        {
            var part = Math.Min(count, MaxData);
            await ReadAsync(part, static _ => true, cancellationToken).ConfigureAwait(false);
            count -= part;
        }
    }
}

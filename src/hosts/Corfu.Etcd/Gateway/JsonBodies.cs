using System.Buffers;
using System.IO.Pipelines;
using System.Text;
using System.Text.Json;
using Google.Protobuf;
using Grpc.Core;

namespace Corfu.Etcd.Gateway;

/// <summary>The JSON of etcd's gateway: names of the .proto files, 64-bit numbers as text, bytes as base64, and no
/// member that has its default.</summary>
internal static class JsonBodies
{
    private static readonly JsonFormatter s_formatter =
        new(JsonFormatter.Settings.Default.WithPreserveProtoFieldNames(true));

    private static readonly JsonParser s_parser = new(
        JsonParser.Settings.Default.WithIgnoreUnknownFields(true).WithRecursionLimit(64));

    public static string Write(IMessage message) => s_formatter.Format(message);

    /// <summary>Reads the next of the values that follow each other in a body.</summary>
    /// <returns>Null: the body has ended. An empty one has no value.</returns>
    /// <exception cref="RpcException">The value is malformed, or too long.</exception>
    public static async ValueTask<T?> ReadAsync<T>(PipeReader body, int mostBytes, CancellationToken cancellationToken)
        where T : class, IMessage, new()
    {
        while (true)
        {
            var read = await body.ReadAsync(cancellationToken).ConfigureAwait(false);
            SequencePosition? end;
            try
            {
                end = Find(read.Buffer, read.IsCompleted);
                if (end is null && read.Buffer.Length > mostBytes) throw Translation.EtcdErrors.TooLarge;
            }
            catch (RpcException)
            {
                // Else the server cannot read the rest of the body, and ends the connection before the answer is out.
                body.AdvanceTo(read.Buffer.End);
                throw;
            }

            if (end is { } behind)
            {
                var text = Encoding.UTF8.GetString(read.Buffer.Slice(0, behind));
                body.AdvanceTo(behind);
                return Parse<T>(text);
            }

            if (read.IsCompleted)
            {
                body.AdvanceTo(read.Buffer.End);
                return null;
            }

            body.AdvanceTo(read.Buffer.Start, read.Buffer.End);
        }
    }

    /// <summary>The end of the first value; null: there is none yet.</summary>
    private static SequencePosition? Find(ReadOnlySequence<byte> buffer, bool isWhole)
    {
        try
        {
            var options = new JsonReaderOptions { AllowMultipleValues = true };
            var reader = new Utf8JsonReader(buffer, isWhole, new JsonReaderState(options));
            return reader.Read() && reader.TrySkip() ? reader.Position : null;
        }
        catch (JsonException) when (isWhole && IsBlank(buffer))
        {
            return null;
        }
        catch (JsonException e)
        {
            throw Malformed(e);
        }
    }

    private static bool IsBlank(ReadOnlySequence<byte> buffer) =>
        buffer.ToArray().AsSpan().IndexOfAnyExcept(" \t\r\n"u8) < 0;

    private static T Parse<T>(string text)
        where T : IMessage, new()
    {
        try
        {
            return s_parser.Parse<T>(text);
        }
        catch (Exception e) when (e is InvalidProtocolBufferException or InvalidOperationException)
        {
            throw Malformed(e);
        }
    }

    private static RpcException Malformed(Exception e) => new(new Status(StatusCode.InvalidArgument, e.Message, e));
}

/// <summary>Requests of a stream: values of a body, one behind the other.</summary>
internal sealed class JsonRequests<T>(PipeReader body, int mostBytes) : IAsyncStreamReader<T>
    where T : class, IMessage, new()
{
    public T Current { get; private set; } = new();

    public async Task<bool> MoveNext(CancellationToken cancellationToken)
    {
        if (await JsonBodies.ReadAsync<T>(body, mostBytes, cancellationToken).ConfigureAwait(false) is not { } next)
            return false;
        Current = next;
        return true;
    }
}

/// <summary>Answers of a stream: a line each, as <c>{"result": ...}</c>.</summary>
internal sealed class JsonLines<T>(PipeWriter body) : IServerStreamWriter<T>
    where T : IMessage
{
    public WriteOptions? WriteOptions { get; set; }

    /// <summary>Something was written: a failure cannot be a status any more.</summary>
    public bool HasBegun { get; private set; }

    public Task WriteAsync(T message) => WriteAsync(message, CancellationToken.None);

    public async Task WriteAsync(T message, CancellationToken cancellationToken)
    {
        HasBegun = true;
        await body.WriteAsync(
            Encoding.UTF8.GetBytes($"{{\"result\":{JsonBodies.Write(message)}}}\n"), cancellationToken)
            .ConfigureAwait(false);
    }
}

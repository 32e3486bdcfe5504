using System.Buffers.Binary;
using System.Net;
using System.Net.Http.Headers;
using Corfu.Grpc.Client;
using Corfu.Grpc.Protocol.Log.V1;
using Corfu.Grpc.Tests.Access;
using Corfu.Grpc.Tests.Tango;
using Corfu.Protocol;
using Google.Protobuf;

namespace Corfu.Grpc.Tests.Limits;

/// <summary>Requests that arrive slowly, or not as a whole.</summary>
public sealed class IncomingBodyTests
{
    private const int Message = 400_000;
    private const int Part = 200_000;

    [Fact]
    public async Task Message_that_stalls_takes_of_the_callers_share_alone()
    {
        await using var frontEnd = await SecureFrontEnd.StartAsync(
            configure: static options => (options.MaxReceiveMessage, options.MaxBytesOfCaller) = (500_000, 900_000));
        var greedy = frontEnd.Certificates.Open(AccessRole.Client, "greedy");
        using var http = new HttpClient(FrontEndHandler.Create(greedy));
        // A part is read before the bytes of the whole are taken, and nothing more until they are there.
        using var stalled = new SlowMessage();
        var first = Post(http, frontEnd, stalled);
        await stalled.SendAsync(0, Part);
        await Poll.UntilAsync(() => Task.FromResult(frontEnd.Limits.Incoming.Taken > 0));
        using var waiting = new SlowMessage();
        var second = Post(http, frontEnd, waiting);
        await waiting.SendAsync(0, Part);
        await Poll.UntilAsync(() => Task.FromResult(frontEnd.Limits.Incoming.WaitedFor("client/greedy") > 0));
        await waiting.SendAsync(Part, Message);
        waiting.End();
        var other = frontEnd.As(AccessRole.Client, "modest");
        await other.Log.AppendAsync(new AppendRequest { Entry = Entry() });
        await frontEnd.As(greedy).Log.DescribeAsync(new DescribeRequest());
        Assert.False(second.IsCompleted);

        await stalled.SendAsync(Part, Message);
        stalled.End();
        Assert.Equal(HttpStatusCode.OK, (await first).StatusCode);
        Assert.Equal(HttpStatusCode.OK, (await second).StatusCode);
        await Poll.UntilAsync(async () => (await frontEnd.Log.CheckAsync([])).Tail.Offset == 3);
        Assert.Equal(0, frontEnd.Limits.Incoming.Taken);
    }

    private static Task<HttpResponseMessage> Post(HttpClient http, SecureFrontEnd frontEnd, SlowMessage message)
    {
        var request = new HttpRequestMessage(HttpMethod.Post, $"{frontEnd.Address}/corfu.log.v1.LogService/Append")
        {
            Version = HttpVersion.Version20,
            VersionPolicy = HttpVersionPolicy.RequestVersionExact,
            Content = message,
        };
        request.Headers.TE.Add(new TransferCodingWithQualityHeaderValue("trailers"));
        return http.SendAsync(request, HttpCompletionOption.ResponseHeadersRead);
    }

    private static NewEntry Entry() => new() { Payload = ByteString.CopyFrom(new byte[Message - 20]) };

    /// <summary>A request that is sent in parts.</summary>
    private sealed class SlowMessage : HttpContent
    {
        private readonly byte[] _frame;
        private readonly TaskCompletionSource<Stream> _stream = new();
        private readonly TaskCompletionSource _end = new();

        public SlowMessage()
        {
            Headers.ContentType = new MediaTypeHeaderValue("application/grpc");
            var body = new AppendRequest { Entry = Entry() }.ToByteArray();
            _frame = new byte[5 + body.Length];
            BinaryPrimitives.WriteInt32BigEndian(_frame.AsSpan(1), body.Length);
            body.CopyTo(_frame, 5);
        }

        public async Task SendAsync(int from, int count)
        {
            var stream = await _stream.Task;
            await stream.WriteAsync(_frame.AsMemory(from, Math.Min(count, _frame.Length - from)));
            await stream.FlushAsync();
        }

        public void End() => _end.SetResult();

        protected override async Task SerializeToStreamAsync(Stream stream, TransportContext? context)
        {
            _stream.SetResult(stream);
            await _end.Task;
        }

        protected override bool TryComputeLength(out long length)
        {
            length = 0;
            return false;
        }
    }
}

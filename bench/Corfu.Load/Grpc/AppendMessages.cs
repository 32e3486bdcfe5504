using Corfu.Grpc.Protocol.Log.V1;
using Google.Protobuf;

namespace Corfu.Load;

/// <summary>Messages of <c>AppendMany</c> with a fixed number of entries. Ids count on, so an entry's id gives its
/// message.</summary>
internal sealed class AppendMessages(int batch, int size)
{
    private readonly ByteString _payload = UnsafeByteOperations.UnsafeWrap(new byte[size]);

    public AppendManyRequest Build(long number)
    {
        var request = new AppendManyRequest();
        for (var i = 0; i < batch; i++)
        {
            request.Items.Add(new AppendManyRequest.Types.Item
            {
                Id = (ulong)(number * batch + i),
                Entry = new NewEntry { Payload = _payload },
            });
        }

        return request;
    }

    public long NumberOf(ulong id) => (long)id / batch;

    /// <summary>Bytes of a message well into a run, when ids have become long.</summary>
    public int MessageSize => Build(100_000).CalculateSize();
}

using System.Text;
using Corfu.Protocol;

namespace Corfu.Register.Tests;

/// <summary>Values that are texts behind their slots, and what else tests of registers need.</summary>
internal static class Registers
{
    public static readonly ClusterId Cluster = new(new Guid("c0000000-0000-0000-0000-000000000001"));

    public static readonly NodeId Id = Acceptor(0);

    public static NodeId Acceptor(int index) => new(new Guid(index + 1, 0, 0, new byte[8]));

    public static Ballot Ballot(long round, byte proposer = 1) =>
        new(round, new Guid(0, 0, 0, [0, 0, 0, 0, 0, 0, 0, proposer]));

    public static RegisterValue Value(long slot, string text = "test") =>
        new(new Epoch(slot), (byte[])[.. BitConverter.GetBytes(slot), .. Encoding.UTF8.GetBytes(text)]);

    public static string Text(RegisterValue value) => Encoding.UTF8.GetString(value.Bytes.Span[8..]);

    public static Task<Acceptor> OpenAsync(
        TestDevice device, NodeId formatAs = default, AcceptorOptions? options = null) =>
        Corfu.Register.Acceptor.OpenAsync(device, new Owner(), Cluster, formatAs, options);

    internal sealed class Owner : IRegisterOwner
    {
        public RegisterValue ReadValue(ReadOnlyMemory<byte> stored) =>
            new(new Epoch(BitConverter.ToInt64(stored.Span)), stored.ToArray());

        public void OnCommitted()
        {
        }

        public void OnFailed(Exception reason)
        {
        }
    }
}

using System.Text;
using static System.Buffers.Binary.BinaryPrimitives;

namespace Corfu.Transport;

/// <summary>The server's answer: magic (8), version chosen (2), status (1), zero (1), length of the rest (4), then
/// cluster id (16), count of roles (2) and for each its role (1) and identity (16); since version 2 the length of a
/// reason (2) and the reason in UTF-8. A refusal names the process's roles, too, unless the peer's certificate is
/// refused.</summary>
public sealed record Welcome(ushort Version, Status Status, NodeDescription Description)
{
    public const int HeaderSize = 16;
    public const int MaxRoles = 64;

    /// <summary>Later versions' fields stand behind the roles; they are skipped.</summary>
    private const int MaxBody = 4096;

    /// <summary>Bytes; longer ones are cut.</summary>
    private const int MaxReason = 1024;

    private const int FixedBody = 18;
    private const int RoleSize = 17;

    /// <summary>Why a refusal is one, where the status does not say it; else empty.</summary>
    public string Reason { get; init; } = string.Empty;

    public byte[] Encode()
    {
        var roles = Description.Roles;
        var behind = FixedBody + (roles.Length * RoleSize);
        var reason = Reason.Length == 0 ? [] : Encoding.UTF8.GetBytes(Reason);
        if (reason.Length > MaxReason) reason = reason[..MaxReason];
        var body = behind + (reason.Length == 0 ? 0 : 2 + reason.Length);
        var bytes = new byte[HeaderSize + body];
        var span = bytes.AsSpan();
        Hello.Magic.CopyTo(span);
        WriteUInt16LittleEndian(span[8..], Version);
        span[10] = (byte)Status;
        WriteInt32LittleEndian(span[12..], body);
        Description.Cluster.Value.TryWriteBytes(span[16..]);
        WriteUInt16LittleEndian(span[32..], (ushort)roles.Length);
        for (var i = 0; i < roles.Length; i++)
        {
            var role = span[(HeaderSize + FixedBody + (i * RoleSize))..];
            role[0] = (byte)roles[i].Role;
            roles[i].Id.Value.TryWriteBytes(role[1..]);
        }

        if (reason.Length == 0) return bytes;
        WriteUInt16LittleEndian(span[(HeaderSize + behind)..], (ushort)reason.Length);
        reason.CopyTo(span[(HeaderSize + behind + 2)..]);
        return bytes;
    }

    /// <summary>Length of the body that follows the header, checked before anything is allocated for it.</summary>
    public static int BodyLength(ReadOnlySpan<byte> header)
    {
        if (!header.StartsWith(Hello.Magic)) throw new MalformedDataException("The peer does not speak this protocol.");
        var length = ReadInt32LittleEndian(header[12..]);
        return length is >= FixedBody and <= MaxBody
            ? length
            : throw new MalformedDataException($"A handshake states a length of {length}.");
    }

    public static Welcome Decode(ReadOnlySpan<byte> header, ReadOnlySpan<byte> body)
    {
        var count = ReadUInt16LittleEndian(body[16..]);
        if (body.Length < FixedBody + (count * RoleSize))
            throw new MalformedDataException("A handshake's roles are longer than its body.");
        var roles = ImmutableArray.CreateBuilder<RoleIdentity>(count);
        for (var i = 0; i < count; i++)
        {
            var role = body.Slice(FixedBody + (i * RoleSize), RoleSize);
            roles.Add(new RoleIdentity((NodeRole)role[0], new NodeId(new Guid(role[1..]))));
        }

        var description = new NodeDescription(new ClusterId(new Guid(body[..16])), roles.DrainToImmutable());
        return new Welcome(ReadUInt16LittleEndian(header[8..]), (Status)header[10], description)
        {
            Reason = ReasonOf(body[(FixedBody + (count * RoleSize))..]),
        };
    }

    private static string ReasonOf(ReadOnlySpan<byte> rest)
    {
        if (rest.Length < 2) return string.Empty;
        var length = ReadUInt16LittleEndian(rest);
        return length > rest.Length - 2 ? string.Empty : Encoding.UTF8.GetString(rest.Slice(2, length));
    }
}

/// <summary>The cluster and the roles of a process, from its handshake.</summary>
public sealed record NodeDescription(ClusterId Cluster, ImmutableArray<RoleIdentity> Roles);

/// <summary>A role of a process and the identity behind it.</summary>
public readonly record struct RoleIdentity(NodeRole Role, NodeId Id);

namespace Corfu.ZooKeeper.Wire;

/// <summary>First frame of a client.</summary>
/// <param name="LastZxidSeen">Newest zxid that the client saw anywhere.</param>
/// <param name="Timeout">Asked for, in ms.</param>
/// <param name="Session">0: a new session.</param>
/// <param name="ReadOnly">Whether the client takes a server that only reads. Null: it sent 44 bytes, and gets an answer
/// without that field.</param>
internal sealed record ConnectRequest(
    long LastZxidSeen, int Timeout, long Session, ImmutableArray<byte> Password, bool? ReadOnly)
{
    /// <summary>Bytes of a first frame: far more than any client sends, as a stranger's bytes wait in memory.</summary>
    public const int MaxSize = 1024;

    /// <returns>Null: malformed.</returns>
    public static ConnectRequest? Read(ReadOnlySpan<byte> frame)
    {
        var reader = new JuteReader(frame);
        // The version is 0 in every client, and no server looks at it.
        reader.ReadInt32();
        var (zxid, timeout, session) = (reader.ReadInt64(), reader.ReadInt32(), reader.ReadInt64());
        ImmutableArray<byte> password = reader.TryReadBytes(out var bytes) ? [.. bytes] : [];
        bool? readOnly = reader.Left > 0 ? reader.ReadBoolean() : null;
        return reader.IsMalformed ? null : new ConnectRequest(zxid, timeout, session, password, readOnly);
    }

    public void Write(JuteWriter writer)
    {
        writer.BeginFrame();
        writer.WriteInt32(0);
        writer.WriteInt64(LastZxidSeen);
        writer.WriteInt32(Timeout);
        writer.WriteInt64(Session);
        writer.WriteBuffer(Password.AsSpan());
        if (ReadOnly is { } flag) writer.WriteBoolean(flag);
        writer.EndFrame();
    }

    public bool Equals(ConnectRequest? other) => other is not null
        && (LastZxidSeen, Timeout, Session, ReadOnly)
            == (other.LastZxidSeen, other.Timeout, other.Session, other.ReadOnly)
        && Password.AsSpan().SequenceEqual(other.Password.AsSpan());

    public override int GetHashCode() => HashCode.Combine(LastZxidSeen, Timeout, Session);
}

/// <summary>First frame of a server.</summary>
/// <param name="Timeout">Granted, in ms. 0: the session is unknown or has expired, or the password is wrong.</param>
/// <param name="ReadOnly">Null: the client did not send the field.</param>
internal sealed record ConnectResponse(int Timeout, long Session, ImmutableArray<byte> Password, bool? ReadOnly)
{
    public const int PasswordSize = 16;

    /// <summary>Answer to a client whose session cannot go on.</summary>
    public static ConnectResponse Refusal(bool? readOnly) =>
        new(0, 0, [.. new byte[PasswordSize]], readOnly is null ? null : false);

    /// <returns>Null: malformed.</returns>
    public static ConnectResponse? Read(ReadOnlySpan<byte> frame)
    {
        var reader = new JuteReader(frame);
        reader.ReadInt32();
        var (timeout, session) = (reader.ReadInt32(), reader.ReadInt64());
        ImmutableArray<byte> password = reader.TryReadBytes(out var bytes) ? [.. bytes] : [];
        bool? readOnly = reader.Left > 0 ? reader.ReadBoolean() : null;
        return reader.IsMalformed ? null : new ConnectResponse(timeout, session, password, readOnly);
    }

    public void Write(JuteWriter writer)
    {
        writer.BeginFrame();
        writer.WriteInt32(0);
        writer.WriteInt32(Timeout);
        writer.WriteInt64(Session);
        writer.WriteBuffer(Password.AsSpan());
        if (ReadOnly is { } flag) writer.WriteBoolean(flag);
        writer.EndFrame();
    }

    public bool Equals(ConnectResponse? other) => other is not null
        && (Timeout, Session, ReadOnly) == (other.Timeout, other.Session, other.ReadOnly)
        && Password.AsSpan().SequenceEqual(other.Password.AsSpan());

    public override int GetHashCode() => HashCode.Combine(Timeout, Session);
}

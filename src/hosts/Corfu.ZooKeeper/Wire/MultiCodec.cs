namespace Corfu.ZooKeeper.Wire;

/// <summary>
/// Requests of several parts, and their results. Each part has a head <c>i type, z 0, i error</c>; a head with type -1
/// and <c>z 1</c> ends them.
/// </summary>
internal static class MultiCodec
{
    private const int NoType = -1;
    private const int NoError = -1;

    /// <returns>Null: malformed, or a part has a type that no multi may have.</returns>
    public static MultiRequest? ReadWrites(ref JuteReader reader)
    {
        var codes = ImmutableArray.CreateBuilder<OpCode>();
        var ops = ImmutableArray.CreateBuilder<NodeOp>();
        while (TryReadHead(ref reader, out var code, out _))
        {
            if (!OpCodes.IsPartOfMulti(code)) return reader.Fail<MultiRequest?>(null);
            codes.Add(code);
            ops.Add(RequestReader.ReadNodeOp(code, ref reader));
        }

        return new MultiRequest(codes.DrainToImmutable(), new MultiOp(ops.DrainToImmutable()));
    }

    /// <returns>Null: malformed, or a part has a type that no multi of reads may have.</returns>
    public static MultiReadRequest? ReadReads(ref JuteReader reader)
    {
        var parts = ImmutableArray.CreateBuilder<NodeRequest>();
        while (TryReadHead(ref reader, out var code, out _))
        {
            if (!OpCodes.IsPartOfMultiRead(code)) return reader.Fail<MultiReadRequest?>(null);
            parts.Add(RequestReader.ReadNode(code, ref reader));
        }

        return new MultiReadRequest(parts.DrainToImmutable());
    }

    /// <summary>Reads the head of a part.</summary>
    /// <returns>False: there are no more parts, or the rest is malformed.</returns>
    public static bool TryReadHead(ref JuteReader reader, out OpCode code, out ErrorCode error)
    {
        code = (OpCode)reader.ReadInt32();
        var isEnd = reader.ReadBoolean();
        error = (ErrorCode)reader.ReadInt32();
        return !isEnd && !reader.IsMalformed;
    }

    /// <summary>Results of a multi. A failed one has the code of the part that failed, 0 before it and -2 behind
    /// it.</summary>
    /// <param name="codes">Types of the parts.</param>
    public static void WriteResult(JuteWriter writer, ImmutableArray<OpCode> codes, MultiResult result)
    {
        for (var i = 0; i < codes.Length; i++)
        {
            var part = result.Parts[i];
            if (result.Error != ZooKeeperError.Ok)
            {
                WriteError(writer, (ErrorCode)part.Error);
                continue;
            }

            var code = ResultOf(codes[i]);
            WriteHead(writer, (int)code, ErrorCode.Ok);
            ReplyWriter.WriteBody(writer, code, part);
        }

        WriteEnd(writer);
    }

    public static void WriteHead(JuteWriter writer, int type, ErrorCode error)
    {
        writer.WriteInt32(type);
        writer.WriteBoolean(false);
        writer.WriteInt32((int)error);
    }

    public static void WriteRequestHead(JuteWriter writer, OpCode code) =>
        WriteHead(writer, (int)code, (ErrorCode)NoError);

    /// <summary>A part that has a code instead of a result.</summary>
    public static void WriteError(JuteWriter writer, ErrorCode error)
    {
        WriteHead(writer, OpCodes.Failed, error);
        writer.WriteInt32((int)error);
    }

    public static void WriteEnd(JuteWriter writer)
    {
        writer.WriteInt32(NoType);
        writer.WriteBoolean(true);
        writer.WriteInt32(NoError);
    }

    // As ZooKeeper has them: only containers and nodes with a time to live come back with their numbers.
    private static OpCode ResultOf(OpCode code) => code switch
    {
        OpCode.Create2 => OpCode.Create,
        OpCode.CreateContainer or OpCode.CreateTtl => OpCode.Create2,
        _ => code,
    };
}

namespace Tango.ZooKeeper;

/// <summary>Bytes of records: each an array of MessagePack, so that tools show their fields.</summary>
internal static class RecordCodec
{
    public static ArgumentBuffer Write(TreeRecord record)
    {
        var buffer = new ArgumentBuffer();
        var writer = new MessagePackWriter(buffer);
        record.Write(ref writer);
        writer.Flush();
        return buffer;
    }

    /// <exception cref="TangoUnknownRecordException">The number is none of this code's.</exception>
    /// <exception cref="TangoFormatException">The bytes are not what <see cref="Write"/> writes.</exception>
    public static TreeRecord Read(int mutator, ReadOnlyMemory<byte> arguments)
    {
        var reader = new MessagePackReader(arguments);
        try
        {
            var record = Read(mutator, ref reader);
            TangoFormatters.RequireEnd(ref reader);
            return record;
        }
        catch (Exception e) when (StrictMessagePack.IsDamage(e))
        {
            throw TangoFormatException.Of(e, reader.Consumed);
        }
    }

    internal static TreeRecord Read(int mutator, ref MessagePackReader reader) => mutator switch
    {
        Mutators.Begin => BeginRecord.Read(ref reader),
        Mutators.Configure => ConfigureRecord.Read(ref reader),
        Mutators.FrontEndUp => FrontEndUpRecord.Read(ref reader),
        Mutators.Beat => BeatRecord.Read(ref reader),
        Mutators.FrontEndDown => FrontEndDownRecord.Read(ref reader),
        Mutators.CreateSession => CreateSessionRecord.Read(ref reader),
        Mutators.Attach => AttachRecord.Read(ref reader),
        Mutators.Expire => ExpireRecord.Read(ref reader),
        Mutators.Reap => ReapRecord.Read(ref reader),
        Mutators.Import => ImportRecord.Read(ref reader),
        Mutators.Mount => MountRecord.Read(ref reader),
        Mutators.Adopt => AdoptRecord.Read(ref reader),
        Mutators.Shared => SharedRecord.Read(ref reader),
        _ => ReadRequest(mutator, ref reader),
    };

    private static RequestRecord ReadRequest(int mutator, ref MessagePackReader reader)
    {
        if (mutator is not (Mutators.CloseSession or (>= Mutators.Create and <= Mutators.Part)))
            throw new TangoUnknownRecordException(ZooKeeperTree.TypeName, mutator);
        reader.ReadArrayHeader(2);
        var header = RequestHeader.Read(ref reader);
        return new RequestRecord(header, mutator switch
        {
            Mutators.CloseSession => CloseSessionOp.Read(ref reader),
            Mutators.Create => CreateOp.Read(ref reader),
            Mutators.Delete => DeleteOp.Read(ref reader),
            Mutators.SetData => SetDataOp.Read(ref reader),
            Mutators.SetAcl => SetAclOp.Read(ref reader),
            Mutators.Part => PartOp.Read(ref reader),
            _ => MultiOp.Read(ref reader),
        });
    }
}

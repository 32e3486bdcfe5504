namespace Corfu.Store.Records;

/// <summary>Bytes of the branches of a transaction.</summary>
internal static class StepCodec
{
    private const int Decided = 0;
    private const int Put = 0;
    private const int Delete = 1;
    private const int Get = 2;
    private const int Nested = 3;

    public static void Write(ref MessagePackWriter writer, Branches branches)
    {
        writer.WriteArrayHeader(3);
        writer.WriteArrayHeader(branches.Conditions.Length);
        foreach (var condition in branches.Conditions) Write(ref writer, condition);
        Write(ref writer, branches.Success);
        Write(ref writer, branches.Failure);
    }

    /// <param name="depth">Levels that may nest.</param>
    public static Branches Read(ref MessagePackReader reader, int depth)
    {
        if (depth < 0) throw new TangoFormatException("A transaction nests too deep");
        reader.ReadArrayHeader(3);
        return new Branches(
            RecordCodec.ReadArray(ref reader, ReadCondition),
            RecordCodec.ReadArray(ref reader, (ref MessagePackReader inner) => ReadStep(ref inner, depth)),
            RecordCodec.ReadArray(ref reader, (ref MessagePackReader inner) => ReadStep(ref inner, depth)));
    }

    private static void Write(ref MessagePackWriter writer, Condition condition)
    {
        if (condition.Decided is { } holds)
        {
            writer.WriteArrayHeader(2);
            writer.Write(Decided);
            writer.Write(holds);
            return;
        }

        writer.WriteArrayHeader(5);
        writer.Write((int)condition.Number);
        RecordCodec.WriteRange(ref writer, condition.Range);
        writer.Write((int)condition.Relation);
        writer.Write(condition.Operand);
    }

    private static Condition ReadCondition(ref MessagePackReader reader)
    {
        var length = reader.ReadCount();
        var number = reader.ReadInt32();
        if (number == Decided && length == 2)
            return new Condition(reader.ReadBoolean(), default, default, default, 0);
        var condition = new Condition(
            null, RecordCodec.ReadRange(ref reader), (NumberOf)number, (Relation)reader.ReadInt32(),
            reader.ReadInt64());
        if (length != 5 || !Enum.IsDefined(condition.Number) || !Enum.IsDefined(condition.Relation))
            throw new TangoFormatException($"No condition compares {number}, {condition.Relation}");
        return condition;
    }

    private static void Write(ref MessagePackWriter writer, ImmutableArray<Step> steps)
    {
        writer.WriteArrayHeader(steps.Length);
        foreach (var step in steps)
        {
            switch (step)
            {
                case PutStep put:
                    writer.WriteArrayHeader(4);
                    writer.Write(Put);
                    writer.Write(put.Key.Bytes);
                    RecordCodec.WriteNumber(ref writer, put.Value);
                    RecordCodec.WriteNumber(ref writer, put.Lease);
                    break;
                case DeleteStep delete:
                    writer.WriteArrayHeader(3);
                    writer.Write(Delete);
                    RecordCodec.WriteRange(ref writer, delete.Range);
                    break;
                case GetStep get:
                    writer.WriteArrayHeader(2);
                    writer.Write(Get);
                    RecordCodec.WriteNumber(ref writer, get.Revision);
                    break;
                case NestedStep nested:
                    writer.WriteArrayHeader(2);
                    writer.Write(Nested);
                    Write(ref writer, nested.Branches);
                    break;
            }
        }
    }

    private static PutStep ReadPut(ref MessagePackReader reader)
    {
        var key = RecordCodec.ReadKey(ref reader);
        var (value, lease) = (RecordCodec.ReadNumber(ref reader), RecordCodec.ReadNumber(ref reader));
        if (value is < 0 or > int.MaxValue || lease is < 0)
            throw new TangoFormatException($"No put has the value {value} and the lease {lease}");
        return new PutStep(key, (int?)value, lease);
    }

    private static Step ReadStep(ref MessagePackReader reader, int depth)
    {
        var length = reader.ReadCount();
        switch (reader.ReadInt32())
        {
            case Put when length == 4:
                return ReadPut(ref reader);
            case Delete when length == 3:
                return new DeleteStep(RecordCodec.ReadRange(ref reader));
            case Get when length == 2:
                return new GetStep(RecordCodec.ReadNumber(ref reader));
            case Nested when length == 2:
                return new NestedStep(Read(ref reader, depth - 1));
            default:
                throw new TangoFormatException("The step is of no kind that this code knows");
        }
    }
}
